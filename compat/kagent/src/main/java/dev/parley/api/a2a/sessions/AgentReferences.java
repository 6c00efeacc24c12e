package dev.parley.api.a2a.sessions;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AgentTypeView;
import dev.parley.protocol.Rejection;
import java.util.List;
import java.util.stream.Stream;

/// Finds agents by reference: `name`, `namespace/name`, or `namespace__NS__name` with underscores
/// for hyphens.
final class AgentReferences {

  private static final String NAMESPACE = "__NS__";

  private final List<AgentTypeId> agents;

  AgentReferences(List<AgentTypeView> types) {
    this.agents = types.stream().map(AgentTypeView::id).toList();
  }

  /// @throws Rejection.NotFound if there is no such agent
  AgentTypeId find(String ref) {
    var slash = ref.lastIndexOf('/');
    var mark = ref.lastIndexOf(NAMESPACE);
    var name = mark >= 0 ? ref.substring(mark + NAMESPACE.length()) : ref.substring(slash + 1);
    return Stream.of(ref, name, name.replace('_', '-'))
        .flatMap(one -> agents.stream().filter(agent -> agent.value().equals(one)))
        .findFirst()
        .orElseThrow(
            () ->
                new Rejection.NotFound(
                    "no such agent: " + ref + "; GET /api/agent-types lists all agents"));
  }
}
