-- Requests that are a day old are found without those that are not.
ALTER TABLE key_requests ADD KEY key_requests_created (organization_id, created_at)
