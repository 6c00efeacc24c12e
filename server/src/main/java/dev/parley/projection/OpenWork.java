package dev.parley.projection;

import java.sql.SQLException;
import java.util.Map;
import java.util.stream.Collectors;

/// The number of open tasks by state, and of open questions by type.
public record OpenWork(Map<String, Long> tasks, Map<String, Long> questions) {

  public OpenWork {
    tasks = Map.copyOf(tasks);
    questions = Map.copyOf(questions);
  }

  static OpenWork of(ViewTables viewTables) throws SQLException {
    return new OpenWork(
        counts(
            viewTables,
            """
            SELECT status AS name, count(*) AS n FROM tasks
              WHERE ended_at IS NULL AND shared = 0 AND rewound = 0 GROUP BY 1
            """),
        counts(
            viewTables,
            """
            SELECT coalesce(json_extract(entry, '$.inputType'), 'text') AS name, count(*) AS n
              FROM inputs GROUP BY 1
            UNION ALL SELECT 'sign-in', n FROM (SELECT count(*) AS n FROM auths) WHERE n > 0
            """));
  }

  private static Map<String, Long> counts(ViewTables viewTables, String sql) throws SQLException {
    return viewTables.sql().list(sql, row -> Map.entry(row.text("name"), row.number("n"))).stream()
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }
}
