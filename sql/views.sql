-- Views over the tables of a store, in SQL that DuckDB and ClickHouse have in common: docs/store.md

-- Whose each run is: of its host, of each of its labels, and of all. Runs of one definition may be added up.
CREATE VIEW members AS
SELECT r.run AS run, r.recipe AS recipe, r.definition AS definition, r.resolution_ns AS resolution_ns,
       'host' AS kind, r.host AS name
FROM runs r
UNION ALL
SELECT r.run AS run, r.recipe AS recipe, r.definition AS definition, r.resolution_ns AS resolution_ns,
       'all' AS kind, '' AS name
FROM runs r
UNION ALL
SELECT r.run AS run, r.recipe AS recipe, r.definition AS definition, r.resolution_ns AS resolution_ns,
       concat('label ', l.name) AS kind, l.value AS name
FROM labels l JOIN runs r ON l.run = r.run;

-- Percentiles as 'stapgen report' has them: of the bin that holds the value of the nearest rank the middle, and of p99 the
-- bounds, too. NULL where n is too small for a percentile. Of stages in ns, else `unit` is empty.
CREATE VIEW percentiles AS
WITH bins AS (
    SELECT m.recipe AS recipe, m.definition AS definition, m.kind AS kind, m.name AS name,
           h.stage AS stage, h.unit AS unit, h.bin_low AS bin_low, h.bin_high AS bin_high, sum(h.n) AS n_bin
    FROM hist h JOIN members m ON h.run = m.run
    GROUP BY m.recipe, m.definition, m.kind, m.name, h.stage, h.unit, h.bin_low, h.bin_high
),
totals AS (
    SELECT m.recipe AS recipe, m.definition AS definition, m.kind AS kind, m.name AS name,
           s.stage AS stage, s.unit AS unit, sum(s.n) AS n_all, min(s.min) AS min_all, max(s.max) AS max_all,
           max(CASE WHEN s.unit = 'ns' THEN m.resolution_ns ELSE 1 END) AS step
    FROM sums s JOIN members m ON s.run = m.run
    GROUP BY m.recipe, m.definition, m.kind, m.name, s.stage, s.unit
),
ranked AS (
    SELECT b.recipe AS recipe, b.definition AS definition, b.kind AS kind, b.name AS name, b.stage AS stage,
           b.unit AS unit, t.n_all AS n_all, t.min_all AS min_all, t.max_all AS max_all,
           greatest(t.min_all, b.bin_low) AS low, least(t.max_all, b.bin_high) AS high,
           least(t.max_all, greatest(t.min_all, CAST(t.step * floor((b.bin_low + floor((b.bin_high - b.bin_low) / 2)
               + floor(t.step / 2)) / t.step) AS BIGINT))) AS middle,
           sum(b.n_bin) OVER (PARTITION BY b.recipe, b.definition, b.kind, b.name, b.stage, b.unit
                              ORDER BY b.bin_low) AS up_to
    FROM bins b JOIN totals t ON b.recipe = t.recipe AND b.definition = t.definition AND b.kind = t.kind
                             AND b.name = t.name AND b.stage = t.stage AND b.unit = t.unit
)
SELECT recipe, definition, kind, name, stage, unit, max(n_all) AS n, min(min_all) AS min_value,
       min(CASE WHEN n_all >= 6 AND up_to >= ceil(n_all * 0.5) THEN middle END) AS p50,
       min(CASE WHEN n_all >= 36 AND up_to >= ceil(n_all * 0.9) THEN middle END) AS p90,
       min(CASE WHEN n_all >= 368 AND up_to >= ceil(n_all * 0.99) THEN middle END) AS p99,
       min(CASE WHEN n_all >= 368 AND up_to >= ceil(n_all * 0.99) THEN low END) AS p99_low,
       min(CASE WHEN n_all >= 368 AND up_to >= ceil(n_all * 0.99) THEN high END) AS p99_high,
       min(CASE WHEN n_all >= 3688 AND up_to >= ceil(n_all * 0.999) THEN middle END) AS p999,
       max(max_all) AS max_value
FROM ranked
GROUP BY recipe, definition, kind, name, stage, unit;
