-- Drops of all hosts by minute and reason, with how many runs had them. Those of a long interval are at its begin.
SELECT recipe, date_trunc('minute', t) AS at_minute, reason, benign, sum(n) AS drops, count(DISTINCT run) AS runs
FROM drops
GROUP BY recipe, date_trunc('minute', t), reason, benign
ORDER BY recipe, at_minute, drops DESC, reason
