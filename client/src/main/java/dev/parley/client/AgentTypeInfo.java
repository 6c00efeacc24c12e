package dev.parley.client;

import dev.parley.protocol.AgentTypeId;
import org.jspecify.annotations.Nullable;

/// An agent that the server offers.
public record AgentTypeInfo(
    AgentTypeId id, @Nullable String name, @Nullable String description, @Nullable String type) {}
