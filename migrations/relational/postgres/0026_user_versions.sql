-- +goose Up
-- Rises with what others see of a user, so that nobody writes over what they have not read.
ALTER TABLE users ADD COLUMN version BIGINT NOT NULL DEFAULT 1;

-- +goose Down
ALTER TABLE users DROP COLUMN version;
