-- +goose Up
-- What a write changed of a target: a JSON list of fields with what they were and are, without
-- secrets. '': not kept, as before there was this column.
ALTER TABLE audit_log ADD COLUMN changes TEXT NOT NULL DEFAULT '';
CREATE INDEX audit_log_object ON audit_log (object, id);
-- How telling one thing of an incident went.
CREATE INDEX deliveries_incident ON deliveries (incident_id, id);

-- +goose Down
DROP INDEX deliveries_incident;
DROP INDEX audit_log_object;
ALTER TABLE audit_log DROP COLUMN changes;
