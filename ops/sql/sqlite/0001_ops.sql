-- Who there is, what they asked the venue to do, and what it signed for them (design D1, D3, D4, D9, D23, D24).
-- Times are milliseconds since the epoch but for exp, which is unix seconds as in the tokens; JSON is canonical text.

CREATE TABLE venue (
  one     INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
  did     TEXT   NOT NULL,
  key_did TEXT   NOT NULL,
  created INTEGER NOT NULL
) STRICT;

CREATE TRIGGER venue_is_created_once BEFORE INSERT ON venue
WHEN EXISTS (SELECT 1 FROM venue)
BEGIN SELECT RAISE(ABORT, 'venue: the identity of a venue is fixed when it is created'); END;

CREATE TRIGGER venue_keeps_its_identity BEFORE UPDATE ON venue
BEGIN SELECT RAISE(ABORT, 'venue: the identity of a venue is fixed when it is created'); END;

-- name is the user's own when the venue manages it, and null for who brought a DID of their own.
CREATE TABLE user (
  did     TEXT    NOT NULL PRIMARY KEY,
  name    TEXT    UNIQUE,
  created INTEGER NOT NULL
) STRICT;

-- The live sign-ins of managed users by their jti; the tokens themselves are stored nowhere.
CREATE TABLE session (
  jti TEXT    NOT NULL PRIMARY KEY,
  did TEXT    NOT NULL REFERENCES user (did),
  exp INTEGER NOT NULL
) STRICT;

CREATE INDEX session_by_user ON session (did);

-- A key that speaks for an agent or a managed user. One key belongs to one principal, for ever: a row stays when revoked.
CREATE TABLE bound_key (
  key       TEXT    NOT NULL PRIMARY KEY,
  principal TEXT    NOT NULL,
  created   INTEGER NOT NULL,
  revoked   INTEGER
) STRICT;

CREATE INDEX bound_key_by_principal ON bound_key (principal);

-- An id that was revoked is never used again, so its row stays. caps is null when the agent has none configured.
CREATE TABLE agent (
  owner    TEXT   NOT NULL,
  agent_id TEXT   NOT NULL,
  caps     TEXT,
  created  INTEGER NOT NULL,
  revoked  INTEGER,
  PRIMARY KEY (owner, agent_id)
) STRICT;

-- The live tokens of agents by their jti; the tokens themselves are stored nowhere.
CREATE TABLE agent_token (
  jti      TEXT   NOT NULL PRIMARY KEY,
  owner    TEXT   NOT NULL,
  agent_id TEXT   NOT NULL,
  exp      INTEGER NOT NULL,
  FOREIGN KEY (owner, agent_id) REFERENCES agent (owner, agent_id)
) STRICT;

CREATE INDEX agent_token_by_agent ON agent_token (owner, agent_id);

-- owner is the user that the job belongs to, maker the principal that acted; input never holds a proof, output never a
-- secret but the token that the job exists to carry.
CREATE TABLE job (
  id      TEXT   NOT NULL PRIMARY KEY,
  op      TEXT   NOT NULL,
  adapter TEXT   NOT NULL,
  name    TEXT   NOT NULL,
  owner   TEXT   NOT NULL,
  maker   TEXT   NOT NULL,
  status  TEXT   NOT NULL,
  input   TEXT,
  output  TEXT,
  error   TEXT,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL
) STRICT;

CREATE INDEX job_by_owner ON job (owner, id);
CREATE INDEX job_parked ON job (adapter, id) WHERE status = 'INPUT_REQUIRED';

CREATE TRIGGER job_has_an_id_of_its_own BEFORE INSERT ON job
WHEN EXISTS (SELECT 1 FROM job WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'venue: no job replaces another'); END;

CREATE TRIGGER job_ends_once BEFORE UPDATE ON job
WHEN OLD.status IN ('COMPLETE', 'FAILED', 'CANCELLED', 'REJECTED')
BEGIN SELECT RAISE(ABORT, 'venue: a finished job does not change'); END;

-- The state chain of a job: record is canonical JSON and names the hash of the record before it.
CREATE TABLE job_state (
  job    TEXT   NOT NULL,
  seq    INTEGER NOT NULL,
  record TEXT   NOT NULL,
  hash   TEXT   NOT NULL,
  PRIMARY KEY (job, seq),
  FOREIGN KEY (job) REFERENCES job (id) ON DELETE CASCADE
) STRICT;

-- The workspace: a JSON document at a path; a path is its segments escaped and joined as in RFC 6901, without the first slash.
CREATE TABLE document (
  owner TEXT   NOT NULL,
  path  TEXT   NOT NULL,
  value TEXT   NOT NULL,
  size  INTEGER NOT NULL,
  PRIMARY KEY (owner, path)
) STRICT;

-- How many bytes a user's documents take together (D22).
CREATE TABLE workspace (
  owner TEXT   NOT NULL PRIMARY KEY,
  bytes INTEGER NOT NULL
) STRICT;

-- The ledger of what this venue signed: hashes, never tokens. grants and proofs are JSON lists.
CREATE TABLE mint (
  hash     TEXT   NOT NULL PRIMARY KEY,
  grantor  TEXT   NOT NULL,
  audience TEXT   NOT NULL,
  grants   TEXT   NOT NULL,
  exp      INTEGER,
  request  TEXT,
  proofs   TEXT   NOT NULL,
  created  INTEGER NOT NULL
) STRICT;

CREATE INDEX mint_by_grantor ON mint (grantor, created);
CREATE INDEX mint_by_audience ON mint (audience, created);

-- What each minted token relied on, so that revoking one of these revokes what was minted.
CREATE TABLE mint_proof (
  proof TEXT NOT NULL,
  mint  TEXT NOT NULL REFERENCES mint (hash),
  PRIMARY KEY (proof, mint)
) STRICT;

CREATE TABLE revocation (
  hash    TEXT    NOT NULL PRIMARY KEY,
  revoker TEXT    NOT NULL,
  at      INTEGER NOT NULL
) STRICT;

CREATE TRIGGER revocation_is_for_good BEFORE UPDATE ON revocation
BEGIN SELECT RAISE(ABORT, 'venue: a revocation is for good'); END;

CREATE TRIGGER revocation_stays BEFORE DELETE ON revocation
BEGIN SELECT RAISE(ABORT, 'venue: a revocation is for good'); END;

-- A key that merges posts (D20): the same input under it gives the same job, for as long as that job is there.
CREATE TABLE idempotency (
  actor     TEXT NOT NULL,
  operation TEXT NOT NULL,
  key       TEXT NOT NULL,
  input     TEXT NOT NULL,
  job       TEXT NOT NULL REFERENCES job (id) ON DELETE CASCADE,
  PRIMARY KEY (actor, operation, key)
) STRICT;

CREATE INDEX idempotency_by_job ON idempotency (job);

-- The venue's signed statement of how a request was settled (D26).
CREATE TABLE receipt (
  request TEXT NOT NULL PRIMARY KEY,
  receipt TEXT NOT NULL
) STRICT;

CREATE TRIGGER receipt_stays_as_signed BEFORE UPDATE ON receipt
BEGIN SELECT RAISE(ABORT, 'venue: a receipt does not change'); END;

CREATE TRIGGER receipt_is_signed_once BEFORE INSERT ON receipt
WHEN EXISTS (SELECT 1 FROM receipt WHERE request = NEW.request)
BEGIN SELECT RAISE(ABORT, 'venue: a receipt does not change'); END;

CREATE TRIGGER receipt_is_kept BEFORE DELETE ON receipt
BEGIN SELECT RAISE(ABORT, 'venue: a receipt does not change'); END;

-- The ledger and the chains of states are evidence: what was written stays as it was written.
CREATE TRIGGER mint_stays BEFORE UPDATE ON mint
BEGIN SELECT RAISE(ABORT, 'venue: the ledger is append-only'); END;

CREATE TRIGGER mint_is_written_once BEFORE INSERT ON mint
WHEN EXISTS (SELECT 1 FROM mint WHERE hash = NEW.hash)
BEGIN SELECT RAISE(ABORT, 'venue: the ledger is append-only'); END;

CREATE TRIGGER mint_is_kept BEFORE DELETE ON mint
BEGIN SELECT RAISE(ABORT, 'venue: the ledger is append-only'); END;

CREATE TRIGGER job_state_stays BEFORE UPDATE ON job_state
BEGIN SELECT RAISE(ABORT, 'venue: the states of a job are append-only'); END;

CREATE TRIGGER job_state_is_written_once BEFORE INSERT ON job_state
WHEN EXISTS (SELECT 1 FROM job_state WHERE job = NEW.job AND seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'venue: the states of a job are append-only'); END;

-- One-time links by which a managed user binds a browser's key (design D35). Only the hash of a code is kept; a row that
-- was used stays, so that a second use can be told from a code that never was.
CREATE TABLE link (
  hash TEXT    NOT NULL PRIMARY KEY,
  did  TEXT    NOT NULL REFERENCES user (did),
  exp  INTEGER NOT NULL,
  used INTEGER
) STRICT;
