-- One-time links by which a managed user binds a browser's key (design D35). Only the hash of a code is kept; a row that
-- was used stays, so that a second use can be told from a code that never was.
CREATE TABLE link (
  hash TEXT    NOT NULL PRIMARY KEY,
  did  TEXT    NOT NULL REFERENCES user (did),
  exp  INTEGER NOT NULL,
  used INTEGER
) STRICT;
