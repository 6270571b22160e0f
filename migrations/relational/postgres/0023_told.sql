-- +goose Up
-- The incident that a post was written about. NULL: none, or it is gone. Readers are never told.
ALTER TABLE status_page_posts ADD COLUMN incident_id BIGINT REFERENCES incidents (id) ON DELETE SET NULL;
CREATE INDEX status_page_posts_incident ON status_page_posts (incident_id) WHERE incident_id IS NOT NULL;

-- +goose Down
DROP INDEX status_page_posts_incident;
ALTER TABLE status_page_posts DROP COLUMN incident_id;
