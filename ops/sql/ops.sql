-- name: venue.get
SELECT did, key_did FROM venue WHERE one = 1

-- name: venue.insert
INSERT INTO venue (one, did, key_did, created) VALUES (1, :did, :key_did, :created)

-- name: user.get
SELECT did, name, created FROM user WHERE did = :did

-- name: user.insert
INSERT INTO user (did, name, created) VALUES (:did, :name, :created) ON CONFLICT (did) DO NOTHING

-- name: user.page
SELECT did, name, created FROM user WHERE did > :after ORDER BY did LIMIT :limit

-- name: user.count
SELECT COUNT(*) AS count FROM user

-- name: session.insert
INSERT INTO session (jti, did, exp) VALUES (:jti, :did, :exp)

-- name: session.get
SELECT did, exp FROM session WHERE jti = :jti

-- name: session.drop
DELETE FROM session WHERE jti = :jti AND did = :did

-- name: session.drop_all
DELETE FROM session WHERE did = :did

-- name: link.insert
INSERT INTO link (hash, did, exp) VALUES (:hash, :did, :exp)

-- name: link.get
SELECT hash, did, exp, used FROM link WHERE hash = :hash

-- name: link.use
UPDATE link SET used = :now WHERE hash = :hash AND used IS NULL AND exp > :now RETURNING did

-- name: bound_key.get
SELECT key, principal, created, revoked FROM bound_key WHERE key = :key

-- name: bound_key.insert
INSERT INTO bound_key (key, principal, created) VALUES (:key, :principal, :created)

-- name: bound_key.list
SELECT key, principal, created, revoked FROM bound_key WHERE principal = :principal ORDER BY created, key

-- name: bound_key.revoke
UPDATE bound_key SET revoked = :now WHERE key = :key AND principal = :principal AND revoked IS NULL

-- name: bound_key.revoke_all
UPDATE bound_key SET revoked = :now WHERE principal = :principal AND revoked IS NULL

-- name: agent.get
SELECT owner, agent_id, caps, created, revoked FROM agent WHERE owner = :owner AND agent_id = :agent_id

-- name: agent.insert
INSERT INTO agent (owner, agent_id, caps, created) VALUES (:owner, :agent_id, :caps, :created)

-- name: agent.list
SELECT owner, agent_id, caps, created, revoked,
  (SELECT MAX(exp) FROM agent_token AS t WHERE t.owner = a.owner AND t.agent_id = a.agent_id) AS exp
FROM agent AS a WHERE owner = :owner ORDER BY agent_id

-- name: agent.revoke
UPDATE agent SET revoked = :now WHERE owner = :owner AND agent_id = :agent_id AND revoked IS NULL

-- name: agent_token.insert
INSERT INTO agent_token (jti, owner, agent_id, exp) VALUES (:jti, :owner, :agent_id, :exp)

-- name: agent_token.live
SELECT a.caps FROM agent_token AS t
JOIN agent AS a ON a.owner = t.owner AND a.agent_id = t.agent_id
WHERE t.jti = :jti AND t.owner = :owner AND t.agent_id = :agent_id AND a.revoked IS NULL

-- name: agent_token.drop
DELETE FROM agent_token WHERE owner = :owner AND agent_id = :agent_id

-- name: job.insert
INSERT INTO job (id, op, adapter, name, owner, maker, status, input, output, error, created, updated)
VALUES (:id, :op, :adapter, :name, :owner, :maker, :status, :input, :output, :error, :created, :updated)

-- name: job.get
SELECT * FROM job WHERE id = :id

-- name: job.finish
UPDATE job SET status = :status, output = :output, error = :error, updated = :updated
WHERE id = :id AND status NOT IN ('COMPLETE', 'FAILED', 'CANCELLED', 'REJECTED')

-- name: job.delete
DELETE FROM job WHERE id = :id

-- name: job.running
SELECT id FROM job WHERE status = 'STARTED' ORDER BY id

-- name: job.count
SELECT COUNT(*) AS count FROM job WHERE owner = :owner AND (CAST(:maker AS TEXT) IS NULL OR maker = :maker)

-- name: job.keys
SELECT id FROM job WHERE owner = :owner AND (CAST(:maker AS TEXT) IS NULL OR maker = :maker)
ORDER BY id LIMIT :limit OFFSET :offset

-- name: job.newest_id
SELECT MAX(id) AS id FROM (SELECT MAX(id) AS id FROM job UNION ALL SELECT MAX(id) FROM request) AS made

-- name: job.parked_without_request
SELECT j.id FROM job AS j LEFT JOIN request AS r ON r.id = j.id AND r.status = 'open'
WHERE j.adapter = 'hitl:request' AND j.status = 'INPUT_REQUIRED' AND r.id IS NULL ORDER BY j.id

-- name: job.request_without_parked
SELECT r.id FROM request AS r LEFT JOIN job AS j ON j.id = r.id AND j.status = 'INPUT_REQUIRED'
WHERE r.status = 'open' AND j.id IS NULL ORDER BY r.id

-- name: job.latest
SELECT MAX(updated) AS at FROM job

-- name: job_state.head
SELECT seq, hash FROM job_state WHERE job = :job ORDER BY seq DESC LIMIT 1

-- name: job_state.insert
INSERT INTO job_state (job, seq, record, hash) VALUES (:job, :seq, :record, :hash)

-- name: job_state.read
SELECT seq, record, hash FROM job_state WHERE job = :job ORDER BY seq

-- name: document.get
SELECT value, size FROM document WHERE owner = :owner AND path = :path

-- name: document.all
SELECT path, value FROM document WHERE owner = :owner ORDER BY path

-- name: document.below
SELECT path, value FROM document WHERE owner = :owner AND path > :low AND path < :high ORDER BY path

-- name: document.any_below
SELECT 1 AS found FROM document WHERE owner = :owner AND path > :low AND path < :high LIMIT 1

-- name: document.paths_below
SELECT path FROM document WHERE owner = :owner AND path > :low AND path < :high ORDER BY path

-- name: document.paths
SELECT path FROM document WHERE owner = :owner ORDER BY path

-- name: document.put
INSERT INTO document (owner, path, value, size) VALUES (:owner, :path, :value, :size)
ON CONFLICT (owner, path) DO UPDATE SET value = excluded.value, size = excluded.size

-- name: document.drop
DELETE FROM document WHERE owner = :owner AND path = :path RETURNING size

-- name: document.drop_below
DELETE FROM document WHERE owner = :owner AND path > :low AND path < :high RETURNING size

-- name: workspace.grow
INSERT INTO workspace (owner, bytes) VALUES (:owner, :delta)
ON CONFLICT (owner) DO UPDATE SET bytes = workspace.bytes + excluded.bytes
RETURNING bytes

-- name: mint.insert
INSERT INTO mint (hash, grantor, audience, grants, exp, request, proofs, created)
VALUES (:hash, :grantor, :audience, :grants, :exp, :request, :proofs, :created)

-- name: mint.get
SELECT * FROM mint WHERE hash = :hash

-- name: mint.live_for
SELECT m.hash FROM mint AS m LEFT JOIN revocation AS r ON r.hash = m.hash
WHERE m.audience = :audience AND r.hash IS NULL AND (m.exp IS NULL OR m.exp > :now)

-- name: mint_proof.insert
INSERT INTO mint_proof (proof, mint) VALUES (:proof, :mint)

-- name: mint_proof.relying
SELECT mint FROM mint_proof WHERE proof = :proof

-- name: revocation.get
SELECT hash FROM revocation WHERE hash = :hash

-- name: revocation.insert
INSERT INTO revocation (hash, revoker, at) VALUES (:hash, :revoker, :at) ON CONFLICT (hash) DO NOTHING

-- name: mint.live_by
SELECT m.hash, m.audience, m.grants, m.exp, m.request, m.created
FROM mint AS m LEFT JOIN revocation AS r ON r.hash = m.hash
WHERE m.grantor = :grantor AND r.hash IS NULL AND (m.exp IS NULL OR m.exp > :now)
  AND (m.created > :created OR (m.created = :created AND m.hash > :hash))
ORDER BY m.created, m.hash LIMIT :limit

-- name: idempotency.get
SELECT input, job FROM idempotency WHERE actor = :actor AND operation = :operation AND key = :key

-- name: idempotency.insert
INSERT INTO idempotency (actor, operation, key, input, job) VALUES (:actor, :operation, :key, :input, :job)

-- name: receipt.insert
INSERT INTO receipt (request, receipt) VALUES (:request, :receipt)

-- name: receipt.get
SELECT receipt FROM receipt WHERE request = :request
