-- +goose NO TRANSACTION
-- +goose Up
-- A row a series, replaced each minute, and read as a whole: worth merging at once. What is written anew for it is about three
-- times what arrives, however many series there are.
ALTER TABLE {{local "results_latest"}}{{onCluster}} MODIFY SETTING merge_selector_base = 1.5;

-- +goose Down
ALTER TABLE {{local "results_latest"}}{{onCluster}} RESET SETTING merge_selector_base;
