-- +goose NO TRANSACTION
-- +goose Up
-- Questions about today read the week that is not over, of which the first days would stay as several parts: what has
-- lain there for an hour becomes one. So a week's hours are written anew once an hour, half a week of them on average.
ALTER TABLE rollup_1h MODIFY SETTING min_age_to_force_merge_on_partition_only = 0;

-- +goose Down
ALTER TABLE rollup_1h MODIFY SETTING min_age_to_force_merge_on_partition_only = 1;
