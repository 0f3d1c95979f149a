-- name: venue.get
SELECT did, key_did FROM venue WHERE one = 1

-- name: venue.insert
INSERT INTO venue (one, did, key_did, created) VALUES (1, :did, :key_did, :created)

-- name: user.get
SELECT did, created FROM user WHERE did = :did

-- name: user.insert
INSERT INTO user (did, created) VALUES (:did, :created) ON CONFLICT (did) DO NOTHING

-- name: user.count
SELECT COUNT(*) AS count FROM user

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

-- name: job.count
SELECT COUNT(*) AS count FROM job WHERE owner = :owner AND (CAST(:maker AS TEXT) IS NULL OR maker = :maker)

-- name: job.keys
SELECT id FROM job WHERE owner = :owner AND (CAST(:maker AS TEXT) IS NULL OR maker = :maker)
ORDER BY id LIMIT :limit OFFSET :offset

-- name: job.total
SELECT COUNT(*) AS count FROM job

-- name: job.parked_without_request
SELECT j.id FROM job AS j LEFT JOIN request AS r ON r.id = j.id AND r.status = 'open'
WHERE j.adapter = 'hitl:request' AND j.status = 'INPUT_REQUIRED' AND r.id IS NULL ORDER BY j.id

-- name: job.request_without_parked
SELECT r.id FROM request AS r LEFT JOIN job AS j ON j.id = r.id AND j.status = 'INPUT_REQUIRED'
WHERE r.status = 'open' AND j.id IS NULL ORDER BY r.id

-- name: job_state.head
SELECT seq, hash FROM job_state WHERE job = :job ORDER BY seq DESC LIMIT 1

-- name: job_state.insert
INSERT INTO job_state (job, seq, record, hash) VALUES (:job, :seq, :record, :hash)

-- name: job_state.read
SELECT seq, record, hash FROM job_state WHERE job = :job ORDER BY seq

-- name: document.get
SELECT value, size FROM document WHERE owner = :owner AND path = :path

-- name: document.below
SELECT path, value FROM document WHERE owner = :owner AND path > :low AND path < :high ORDER BY path

-- name: document.next
SELECT path FROM document WHERE owner = :owner AND path > :low AND path < :high ORDER BY path LIMIT 1

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
