-- +goose NO TRANSACTION
-- +goose Up
-- A batch that is sent again under its token marks its hours again: a first attempt may have left the mark, and no rows.
ALTER TABLE rollup_dirty MODIFY SETTING non_replicated_deduplication_window = 0, replicated_deduplication_window = 0;

-- +goose Down
ALTER TABLE rollup_dirty MODIFY SETTING non_replicated_deduplication_window = 1000, replicated_deduplication_window = 10000;
