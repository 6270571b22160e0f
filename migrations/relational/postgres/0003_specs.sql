-- +goose Up
-- What a target sends and must answer, as one JSON object; '' is a plain visit.
ALTER TABLE targets ADD COLUMN spec TEXT NOT NULL DEFAULT '';
UPDATE targets SET spec = '{"expect":' || expect || '}' WHERE expect <> '{}';
ALTER TABLE targets DROP COLUMN expect;

-- +goose Down
ALTER TABLE targets ADD COLUMN expect TEXT NOT NULL DEFAULT '{}';
ALTER TABLE targets DROP COLUMN spec;
