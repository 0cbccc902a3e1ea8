-- What people and programs make of answers (W5). Every verdict stays; nothing exports them.
CREATE TABLE verdicts (
    id           TEXT    NOT NULL PRIMARY KEY,
    ts           INTEGER NOT NULL, -- milliseconds since 1970, UTC
    run_id       TEXT    NOT NULL,
    inference_id TEXT,             -- NULL where the verdict is about the run
    verdict      TEXT    NOT NULL, -- 'up' or 'down'
    score        REAL,
    note         TEXT,
    source       TEXT
) STRICT;

CREATE INDEX verdicts_by_run ON verdicts (run_id, ts);
