package dev.parley.view;

import dev.parley.protocol.AgentTypeId;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Lists contexts together with their agents; see [Views].
public final class Listing {

  /// The agent that the context's metadata names, or that of the first active root task.
  private static final String AGENT =
      """
      coalesce(json_extract(c.metadata, '$.session.agentId'), (SELECT t.agent_id FROM tasks t
        WHERE t.context = c.context AND t.rewound = 0 AND t.parent_task_id IS NULL
        ORDER BY t.seq LIMIT 1))
      """;

  /// Selects contexts of these owners, with this agent if one is given, and of this user or of no
  /// user if one is given. Contexts that an agent created for itself are never listed.
  public record Which(Set<String> owners, @Nullable AgentTypeId agent, @Nullable String user) {
    public Which {
      owners = Set.copyOf(owners);
    }
  }

  /// A context and its agent, if known.
  public record Listed(ContextView context, @Nullable AgentTypeId agent) {}

  private final Views views;

  Listing(Views views) {
    this.views = views;
  }

  /// Returns contexts from index `offset` on, last changed first.
  public List<Listed> page(Which which, long offset, int limit) {
    return views.answerList(tables -> page(tables.sql(), which, offset, Views.clamp(limit)));
  }

  /// Returns the context with its agent.
  public Listed find(ContextView context) {
    return views
        .answer(
            context.contextId(),
            tables ->
                tables
                    .sql()
                    .first(
                        "SELECT "
                            + ContextTable.COLUMNS
                            + ", "
                            + AGENT
                            + " AS agent FROM contexts c WHERE c.context = ?",
                        Listing::listed,
                        context.contextId().value()))
        .orElseThrow();
  }

  private static List<Listed> page(Sql sql, Which which, long offset, int limit)
      throws SQLException {
    var agent = Column.of(which.agent());
    var user = which.user();
    return sql.list(
        "SELECT "
            + ContextTable.COLUMNS
            + ", "
            + AGENT
            + """
             AS agent FROM contexts c
            WHERE c.owner IN (SELECT value FROM json_each(?))
              AND coalesce(json_extract(c.metadata, '$.session.source'), '') <> 'agent'
              AND (? IS NULL OR agent = ?)
              AND (? IS NULL OR coalesce(json_extract(c.metadata, '$.session.userId'), ?) = ?)
            ORDER BY c.updated_at DESC, c.context DESC LIMIT ? OFFSET ?
            """,
        Listing::listed,
        Column.json(which.owners()),
        agent,
        agent,
        user,
        user,
        user,
        limit,
        offset);
  }

  private static Listed listed(Row row) throws SQLException {
    return new Listed(ContextTable.view(row), row.optionalId("agent", AgentTypeId::new));
  }
}
