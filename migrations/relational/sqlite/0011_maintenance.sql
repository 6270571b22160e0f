-- +goose Up
-- When targets are maintained. What has held once is never removed: uptime leaves it out for good.
CREATE TABLE maintenance_windows (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    name           TEXT NOT NULL,
    terms          TEXT NOT NULL,          -- JSON: what for, from when, how long, how often
    ended_at_ms    INTEGER,                -- it holds no more from then on, whatever its terms say
    created_at_ms  INTEGER NOT NULL
);

-- +goose Down
DROP TABLE maintenance_windows;
