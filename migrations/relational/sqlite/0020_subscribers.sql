-- +goose Up
-- Who is told what is written on a page. A row is there from the first wish on, and counts
-- from when it is confirmed.
CREATE TABLE status_page_subscribers (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    page_id          INTEGER NOT NULL REFERENCES status_pages(id) ON DELETE CASCADE,
    kind             TEXT NOT NULL CHECK (kind IN ('email', 'webhook')),
    address_key      TEXT NOT NULL,        -- keyed hash of the address
    terms            TEXT NOT NULL,        -- sealed JSON: address, key of signatures, language; '': not confirmed yet
    wish             TEXT NOT NULL,        -- sealed JSON, likewise, with components: what is to be confirmed; '': nothing
    wish_hash        TEXT UNIQUE,          -- of the token that confirms it; NULL: nothing
    wish_until_ms    INTEGER NOT NULL,
    all_components   BOOLEAN NOT NULL,
    created_at_ms    INTEGER NOT NULL,
    confirmed_at_ms  INTEGER,
    UNIQUE (page_id, kind, address_key)
);
CREATE INDEX status_page_subscribers_address ON status_page_subscribers(address_key);

-- The components that a subscriber chose.
CREATE TABLE status_page_choices (
    subscriber_id    INTEGER NOT NULL REFERENCES status_page_subscribers(id) ON DELETE CASCADE,
    component_id     INTEGER NOT NULL,     -- within the page
    PRIMARY KEY (subscriber_id, component_id)
);

-- What is said, once for all who are told: an update of a post.
CREATE TABLE status_page_letters (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    page_id          INTEGER NOT NULL REFERENCES status_pages(id) ON DELETE CASCADE,
    post_id          INTEGER NOT NULL REFERENCES status_page_posts(id) ON DELETE CASCADE,
    number           INTEGER NOT NULL,     -- of the update within its post
    body             TEXT NOT NULL,        -- JSON
    UNIQUE (post_id, number)
);

-- Who is still to be told what, written in the transaction of the post or wish.
CREATE TABLE status_page_outbox (
    id                   INTEGER PRIMARY KEY AUTOINCREMENT,
    subscriber_id        INTEGER NOT NULL REFERENCES status_page_subscribers(id) ON DELETE CASCADE,
    letter_id            INTEGER REFERENCES status_page_letters(id) ON DELETE CASCADE, -- NULL: the request to confirm
    sealed               TEXT NOT NULL,    -- of that request: sealed JSON; '' when it is settled
    kind                 TEXT NOT NULL,    -- of the subscriber
    created_at_ms        INTEGER NOT NULL,
    next_attempt_at_ms   INTEGER NOT NULL,
    attempts             INTEGER NOT NULL,
    holder               TEXT NOT NULL,
    lease_until_ms       INTEGER,          -- while it is being sent
    settled_at_ms        INTEGER,
    outcome              TEXT NOT NULL,    -- '': none yet
    status               INTEGER NOT NULL, -- of the last attempt
    excerpt              TEXT NOT NULL,    -- likewise, without secrets
    UNIQUE (subscriber_id, letter_id)
);
CREATE INDEX status_page_outbox_waiting ON status_page_outbox(kind, next_attempt_at_ms) WHERE settled_at_ms IS NULL;
CREATE INDEX status_page_outbox_settled ON status_page_outbox(settled_at_ms) WHERE settled_at_ms IS NOT NULL;
CREATE INDEX status_page_outbox_letter ON status_page_outbox(letter_id);

-- +goose Down
DROP TABLE status_page_outbox;
DROP TABLE status_page_letters;
DROP TABLE status_page_choices;
DROP TABLE status_page_subscribers;
