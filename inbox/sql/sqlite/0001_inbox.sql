-- The inbox: requests, the feed of changes, and the audit chain (design D13, D16, D25, D26).
-- Times are milliseconds since the epoch; JSON is canonical text (RFC 8785).

-- body is the record without digest, status and response; it never changes.
CREATE TABLE request (
  id         TEXT   NOT NULL PRIMARY KEY,
  owner      TEXT   NOT NULL,
  requester  TEXT   NOT NULL,
  maker      TEXT   NOT NULL,
  title      TEXT   NOT NULL,
  body       TEXT   NOT NULL,
  digest     TEXT   NOT NULL,
  created    INTEGER NOT NULL,
  expires    INTEGER,
  status     TEXT   NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'answered', 'rejected', 'expired', 'cancelled')),
  response   TEXT,
  resolver   TEXT,
  channel    TEXT,
  settled    INTEGER,
  CHECK ((status = 'open') = (settled IS NULL)),
  CHECK (status <> 'open' OR (response IS NULL AND resolver IS NULL))
) STRICT;

CREATE INDEX request_by_owner ON request (owner, id);
CREATE INDEX request_by_status ON request (owner, status, id);
CREATE INDEX request_by_maker ON request (owner, requester, id);
CREATE INDEX request_open_by_user ON request (maker) WHERE status = 'open';
CREATE INDEX request_by_user_and_time ON request (maker, created);
CREATE INDEX request_due ON request (expires) WHERE status = 'open' AND expires IS NOT NULL;

CREATE TRIGGER request_settles_once BEFORE UPDATE ON request
WHEN OLD.status <> 'open'
BEGIN SELECT RAISE(ABORT, 'venue: a settled request does not change'); END;

CREATE TRIGGER request_keeps_its_body BEFORE UPDATE ON request
WHEN NEW.id IS NOT OLD.id OR NEW.owner IS NOT OLD.owner OR NEW.requester IS NOT OLD.requester
  OR NEW.maker IS NOT OLD.maker OR NEW.title IS NOT OLD.title OR NEW.body IS NOT OLD.body
  OR NEW.digest IS NOT OLD.digest OR NEW.created IS NOT OLD.created OR NEW.expires IS NOT OLD.expires
BEGIN SELECT RAISE(ABORT, 'venue: a request does not change but for its settling'); END;

CREATE TRIGGER request_names_its_resolver BEFORE UPDATE ON request
WHEN NEW.status IN ('answered', 'rejected') AND (NEW.resolver IS NULL OR NEW.resolver = '')
BEGIN SELECT RAISE(ABORT, 'venue: an answer or rejection names its resolver'); END;

CREATE TRIGGER request_answers_in_time BEFORE UPDATE ON request
WHEN NEW.status IN ('answered', 'rejected') AND NEW.expires IS NOT NULL AND NEW.settled >= NEW.expires
BEGIN SELECT RAISE(ABORT, 'venue: the deadline of this request has passed'); END;

CREATE TRIGGER request_opens_open BEFORE INSERT ON request
WHEN NEW.status <> 'open' OR EXISTS (SELECT 1 FROM request WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'venue: a request begins open, under an id of its own'); END;

CREATE TRIGGER request_is_settled_before_it_goes BEFORE DELETE ON request
WHEN OLD.status = 'open'
BEGIN SELECT RAISE(ABORT, 'venue: an open request is settled before it is deleted'); END;

CREATE TABLE feed (
  feed    TEXT   NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL
) STRICT;

CREATE TABLE event (
  feed    TEXT   NOT NULL,
  version INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  kind    TEXT   NOT NULL,
  subject TEXT   NOT NULL,
  PRIMARY KEY (feed, version)
) STRICT;

-- Who may not post into an inbox: a requester's whole user family (D12).
CREATE TABLE block (
  owner     TEXT    NOT NULL,
  requester TEXT    NOT NULL,
  created   INTEGER NOT NULL,
  PRIMARY KEY (owner, requester)
) STRICT;

-- line is the canonical JSON that hash was taken over; it names the hash before it.
CREATE TABLE audit (
  inbox TEXT   NOT NULL,
  seq   INTEGER NOT NULL,
  line  TEXT   NOT NULL,
  hash  TEXT   NOT NULL,
  PRIMARY KEY (inbox, seq)
) STRICT;

-- The last line of each chain, so that appending needs no search, and the last that a signed root covers.
CREATE TABLE audit_head (
  inbox  TEXT    NOT NULL PRIMARY KEY,
  seq    INTEGER NOT NULL,
  hash   TEXT    NOT NULL,
  signed INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX audit_head_unsigned ON audit_head (inbox) WHERE seq > signed;

-- Signed roots: heads is the canonical JSON of the heads that changed since the root before, root the token over its hash.
CREATE TABLE audit_root (
  seq   INTEGER NOT NULL PRIMARY KEY,
  at    INTEGER NOT NULL,
  heads TEXT    NOT NULL,
  root  TEXT    NOT NULL
) STRICT;

CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'venue: the audit chain is append-only'); END;

-- INSERT OR REPLACE takes a row away without asking the triggers that guard deletes.
CREATE TRIGGER audit_takes_each_place_once BEFORE INSERT ON audit
WHEN EXISTS (SELECT 1 FROM audit WHERE inbox = NEW.inbox AND seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'venue: the audit chain is append-only'); END;

CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'venue: the audit chain is append-only'); END;
