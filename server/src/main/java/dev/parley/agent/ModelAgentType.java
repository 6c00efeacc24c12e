package dev.parley.agent;

import dev.parley.model.Model;
import dev.parley.protocol.AgentTypeId;
import dev.parley.tool.Toolbox;

/// A configured agent: id, instructions, model, tools, and the policy for tool calls.
public record ModelAgentType(
    AgentTypeId id,
    String name,
    String description,
    String instructions,
    Model model,
    Toolbox toolbox,
    ToolPolicy policy) {}
