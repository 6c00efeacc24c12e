package dev.parley.api.chat;

import dev.parley.http.AgentTypeView;
import dev.parley.protocol.AgentTypeId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/// The names and tools of agents.
final class AgentNames {

  private final Map<AgentTypeId, AgentTypeView> types;

  AgentNames(List<AgentTypeView> types) {
    this.types = types.stream().collect(Collectors.toMap(AgentTypeView::id, Function.identity()));
  }

  String name(AgentTypeId id) {
    return Optional.ofNullable(types.get(id)).map(AgentTypeView::name).orElseGet(id::value);
  }

  List<String> tools(AgentTypeId id) {
    return Optional.ofNullable(types.get(id)).map(AgentTypeView::toolNames).orElse(List.of());
  }
}
