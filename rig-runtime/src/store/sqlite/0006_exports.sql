-- How far each exporter has come (T4), and who exports at the moment. A cursor is the id of the last row that arrived, and
-- no row number: those change when somebody vacuums the file.
CREATE TABLE exports (
    exporter TEXT    NOT NULL PRIMARY KEY,
    cursor   TEXT,             -- NULL before the first row
    worker   TEXT,             -- NULL while it is nobody's turn
    taken    INTEGER,          -- milliseconds since 1970, UTC
    lapses   INTEGER           -- milliseconds since 1970, UTC
) STRICT;

-- Where in the caller's trace the run belongs: a `traceparent` header.
ALTER TABLE inferences ADD COLUMN traceparent TEXT;
