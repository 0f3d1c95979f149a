-- name: request.insert
INSERT INTO request (id, owner, requester, maker, title, body, digest, created, expires)
VALUES (:id, :owner, :requester, :maker, :title, :body, :digest, :created, :expires)

-- name: request.get
SELECT * FROM request WHERE id = :id AND owner = :owner

-- name: request.find
SELECT * FROM request WHERE id = :id

-- name: request.settle
-- THE guarded update of D16: it lands on an open row only, an expiry only at or after the deadline, anything else
-- only before it. No row back means that somebody else was first.
UPDATE request
SET status = :status, response = :response, resolver = :resolver, channel = :channel, settled = :now
WHERE id = :id AND status = 'open'
  AND CASE WHEN :status = 'expired' THEN expires <= :now ELSE expires IS NULL OR expires > :now END
RETURNING id

-- name: request.delete
DELETE FROM request WHERE id = :id AND owner = :owner AND status <> 'open'

-- name: request.page
SELECT id, requester, title, status, created, expires FROM request
WHERE owner = :owner AND id > :after
ORDER BY id LIMIT :limit

-- name: request.page_by_status
SELECT id, requester, title, status, created, expires FROM request
WHERE owner = :owner AND status = :status AND id > :after
ORDER BY id LIMIT :limit

-- name: request.page_by_requester
-- What one principal asked is little, so that its status may be looked at row by row.
SELECT id, requester, title, status, created, expires FROM request
WHERE owner = :owner AND requester = :requester AND id > :after
  AND (CAST(:status AS TEXT) IS NULL OR status = :status)
ORDER BY id LIMIT :limit

-- name: request.newest
SELECT id, requester, title, status, created, expires FROM request
WHERE owner = :owner AND id < :before
ORDER BY id DESC LIMIT :limit

-- name: request.newest_by_status
SELECT id, requester, title, status, created, expires FROM request
WHERE owner = :owner AND status = :status AND id < :before
ORDER BY id DESC LIMIT :limit

-- name: request.newest_by_requester
SELECT id, requester, title, status, created, expires FROM request
WHERE owner = :owner AND requester = :requester AND id < :before
  AND (CAST(:status AS TEXT) IS NULL OR status = :status)
ORDER BY id DESC LIMIT :limit

-- name: request.count
SELECT COUNT(*) AS count FROM request WHERE owner = :owner

-- name: request.count_by_status
SELECT COUNT(*) AS count FROM request WHERE owner = :owner AND status = :status

-- name: request.count_by_requester
SELECT COUNT(*) AS count FROM request
WHERE owner = :owner AND requester = :requester
  AND (CAST(:status AS TEXT) IS NULL OR status = :status)

-- name: request.keys
SELECT id FROM request
WHERE owner = :owner AND (CAST(:requester AS TEXT) IS NULL OR requester = :requester)
ORDER BY id LIMIT :limit OFFSET :offset

-- name: request.open_by_maker
SELECT COUNT(*) AS count FROM request
WHERE maker = :maker AND status = 'open' AND (expires IS NULL OR expires > :now)

-- name: request.open_by_requester
SELECT id FROM request WHERE maker = :maker AND status = 'open' AND requester = :requester ORDER BY id

-- name: request.open_by_owner
SELECT COUNT(*) AS count FROM request
WHERE owner = :owner AND status = 'open' AND (expires IS NULL OR expires > :now)

-- name: request.posted_since
SELECT COUNT(*) AS count FROM request WHERE maker = :maker AND created > :since

-- name: block.insert
INSERT INTO block (owner, requester, created) VALUES (:owner, :requester, :created)
ON CONFLICT (owner, requester) DO NOTHING

-- name: block.delete
DELETE FROM block WHERE owner = :owner AND requester = :requester

-- name: block.get
SELECT requester FROM block WHERE owner = :owner AND requester = :requester

-- name: block.list
SELECT requester, created FROM block WHERE owner = :owner ORDER BY requester

-- name: request.next_deadline
SELECT MIN(expires) AS expires FROM request WHERE status = 'open' AND expires IS NOT NULL

-- name: request.due
SELECT id, owner FROM request
WHERE status = 'open' AND expires IS NOT NULL AND expires <= :now
ORDER BY expires LIMIT :limit

-- name: request.any_due
SELECT 1 AS due FROM request WHERE status = 'open' AND expires IS NOT NULL AND expires <= :now LIMIT 1

-- name: feed.bump
INSERT INTO feed (feed, version) VALUES (:feed, 1)
ON CONFLICT (feed) DO UPDATE SET version = feed.version + 1
RETURNING version

-- name: feed.version
SELECT version FROM feed WHERE feed = :feed

-- name: event.insert
INSERT INTO event (feed, version, at, kind, subject) VALUES (:feed, :version, :at, :kind, :subject)

-- name: event.after
SELECT version, at, kind, subject FROM event WHERE feed = :feed AND version > :after ORDER BY version LIMIT :limit

-- name: audit.head
SELECT seq, hash FROM audit_head WHERE inbox = :inbox

-- name: audit.set_head
INSERT INTO audit_head (inbox, seq, hash) VALUES (:inbox, :seq, :hash)
ON CONFLICT (inbox) DO UPDATE SET seq = excluded.seq, hash = excluded.hash

-- name: audit.heads
SELECT inbox, seq, hash, signed FROM audit_head ORDER BY inbox

-- name: audit.unsigned
SELECT inbox, seq, hash FROM audit_head WHERE seq > signed ORDER BY inbox

-- name: audit.mark_signed
UPDATE audit_head SET signed = seq WHERE seq > signed

-- name: audit_root.last
SELECT seq, root FROM audit_root ORDER BY seq DESC LIMIT 1

-- name: audit_root.all
SELECT seq, at, heads, root FROM audit_root ORDER BY seq

-- name: audit_root.insert
INSERT INTO audit_root (seq, at, heads, root) VALUES (:seq, :at, :heads, :root)

-- name: audit.insert
INSERT INTO audit (inbox, seq, line, hash) VALUES (:inbox, :seq, :line, :hash)

-- name: audit.read
SELECT seq, line, hash FROM audit WHERE inbox = :inbox AND seq > :after ORDER BY seq LIMIT :limit
