-- Views over the tables of a store, in SQL that DuckDB and ClickHouse have in common: docs/guide/store.md

-- Whose each run is: of its host, of each of its labels, and of all. Runs of one definition may be added up; those that are
-- have one number among their kind.
CREATE VIEW members AS
SELECT run, kind, dense_rank() OVER (PARTITION BY kind ORDER BY recipe, definition, name) AS number,
       recipe, definition, name, resolution_ns
FROM (SELECT r.run AS run, 'host' AS kind, r.recipe AS recipe, r.definition AS definition, r.host AS name,
             r.resolution_ns AS resolution_ns
      FROM runs r
      UNION ALL
      SELECT r.run AS run, 'all' AS kind, r.recipe AS recipe, r.definition AS definition, '' AS name,
             r.resolution_ns AS resolution_ns
      FROM runs r
      UNION ALL
      SELECT r.run AS run, concat('label ', l.name) AS kind, r.recipe AS recipe, r.definition AS definition,
             l.value AS name, r.resolution_ns AS resolution_ns
      FROM labels l JOIN runs r ON l.run = r.run) m;

-- Percentiles as 'stapgen report' has them: of the bin that holds the value of the nearest rank the middle, and of p99 the
-- bounds, too. NULL where n is too small for a percentile. Of stages in ns, else `unit` is empty.
CREATE VIEW percentiles AS
WITH bins AS (
    SELECT m.kind AS kind, m.number AS number, h.stage AS stage, h.unit AS unit, h.bin_low AS bin_low,
           h.bin_high AS bin_high, sum(h.n) AS n_bin
    FROM hist h JOIN members m ON h.run = m.run
    GROUP BY m.kind, m.number, h.stage, h.unit, h.bin_low, h.bin_high
),
totals AS (
    SELECT m.kind AS kind, m.number AS number, s.stage AS stage, s.unit AS unit, min(m.recipe) AS recipe,
           min(m.definition) AS definition, min(m.name) AS name, sum(s.n) AS n_all, min(s.min) AS min_all,
           max(s.max) AS max_all,
           max(CASE WHEN s.unit = 'ns' THEN m.resolution_ns ELSE 1 END) AS step,
           CASE WHEN sum(s.n) >= 6 THEN CAST(ceil(sum(s.n) * 0.5) AS BIGINT) END AS rank50,
           CASE WHEN sum(s.n) >= 36 THEN CAST(ceil(sum(s.n) * 0.9) AS BIGINT) END AS rank90,
           CASE WHEN sum(s.n) >= 368 THEN CAST(ceil(sum(s.n) * 0.99) AS BIGINT) END AS rank99,
           CASE WHEN sum(s.n) >= 3688 THEN CAST(ceil(sum(s.n) * 0.999) AS BIGINT) END AS rank999
    FROM sums s JOIN members m ON s.run = m.run
    GROUP BY m.kind, m.number, s.stage, s.unit
),
ranked AS (
    SELECT b.kind AS kind, b.number AS number, b.stage AS stage, b.unit AS unit, t.recipe AS recipe,
           t.definition AS definition, t.name AS name, t.n_all AS n_all, t.min_all AS min_all, t.max_all AS max_all,
           t.rank50 AS rank50, t.rank90 AS rank90, t.rank99 AS rank99, t.rank999 AS rank999,
           greatest(t.min_all, b.bin_low) AS low, least(t.max_all, b.bin_high) AS high,
           least(t.max_all, greatest(t.min_all, CAST(t.step * floor((b.bin_low + floor((b.bin_high - b.bin_low) / 2)
               + floor(t.step / 2)) / t.step) AS BIGINT))) AS middle,
           sum(b.n_bin) OVER (PARTITION BY b.kind, b.number, b.stage, b.unit ORDER BY b.bin_low) AS up_to
    FROM bins b JOIN totals t ON b.kind = t.kind AND b.number = t.number AND b.stage = t.stage AND b.unit = t.unit
)
SELECT min(recipe) AS recipe, min(definition) AS definition, kind, min(name) AS name, stage, unit, max(n_all) AS n,
       min(min_all) AS min_value,
       min(CASE WHEN up_to >= rank50 THEN middle END) AS p50,
       min(CASE WHEN up_to >= rank90 THEN middle END) AS p90,
       min(CASE WHEN up_to >= rank99 THEN middle END) AS p99,
       min(CASE WHEN up_to >= rank99 THEN low END) AS p99_low,
       min(CASE WHEN up_to >= rank99 THEN high END) AS p99_high,
       min(CASE WHEN up_to >= rank999 THEN middle END) AS p999,
       max(max_all) AS max_value
FROM ranked
GROUP BY kind, number, stage, unit;
