package dev.parley.agent;

import dev.parley.model.Model;
import dev.parley.protocol.AgentTypeId;
import dev.parley.tool.Toolbox;

/// A configured agent: who it is, what it is told, what it thinks with, what it can call, and what of that
/// without asking.
public record AgentType(
    AgentTypeId id,
    String name,
    String description,
    String instructions,
    Model model,
    Toolbox toolbox,
    Policy policy) {}
