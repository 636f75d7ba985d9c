-- The twenty hosts and stages whose p99 is the most times that of all hosts together.
SELECT h.recipe AS recipe, h.definition AS definition, h.stage AS stage, h.name AS host, h.n AS n, h.p99 AS p99_ns,
       a.p99 AS all_p99_ns, round(h.p99 / a.p99, 2) AS times
FROM percentiles h
JOIN percentiles a ON h.recipe = a.recipe AND h.definition = a.definition AND h.stage = a.stage AND h.unit = a.unit
WHERE h.kind = 'host' AND a.kind = 'all' AND h.unit = 'ns' AND h.p99 > a.p99
ORDER BY times DESC, recipe, stage, host
LIMIT 20
