package dev.parley.door.chat;

import dev.parley.door.AgentType;
import dev.parley.protocol.AgentTypeId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/// The names and tools of agents.
final class AgentNames {

  private final Map<AgentTypeId, AgentType> types;

  AgentNames(List<AgentType> types) {
    this.types = types.stream().collect(Collectors.toMap(AgentType::id, Function.identity()));
  }

  String name(AgentTypeId id) {
    return Optional.ofNullable(types.get(id)).map(AgentType::name).orElseGet(id::value);
  }

  List<String> tools(AgentTypeId id) {
    return Optional.ofNullable(types.get(id)).map(AgentType::toolNames).orElse(List.of());
  }
}
