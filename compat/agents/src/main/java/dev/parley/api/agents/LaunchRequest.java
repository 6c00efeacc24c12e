package dev.parley.api.agents;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AgentTypeView;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskFacts;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A request to launch an agent: its type, prompt and configuration.
record LaunchRequest(
    @Nullable AgentTypeId type,
    @Nullable String prompt,
    @Nullable LaunchConfiguration configuration) {

  private static final int NAME_MAX = 100;
  private static final String FORMAT = "stream-json";

  /// The configuration of an agent.
  record LaunchConfiguration(
      @Nullable ContextId sessionId,
      @Nullable String conversationName,
      @Nullable String workingDirectory,
      @Nullable Long timeout,
      @Nullable String outputFormat,
      @Nullable ObjectNode metadata,
      @Nullable String model,
      @Nullable List<String> allowedTools,
      @Nullable List<String> disallowedTools,
      @Nullable LaunchMcpServers mcp,
      @Nullable List<String> customArgs,
      @Nullable String instructions) {

    static final LaunchConfiguration NONE =
        new LaunchConfiguration(
            null, null, null, null, null, null, null, null, null, null, null, null);

    /// Rejects values that are invalid for every agent.
    void check() {
      if (conversationName != null
          && (conversationName.isBlank() || conversationName.length() > NAME_MAX)) {
        throw new Rejection.Invalid(
            "configuration.conversationName must have 1 to " + NAME_MAX + " characters");
      }
      if (outputFormat != null && !outputFormat.equals(FORMAT)) {
        throw new Rejection.Invalid("configuration.outputFormat can only be " + FORMAT);
      }
    }

    /// Rejects unknown keys, which would have no effect.
    static void checkKeys(JsonNode configuration) {
      var known =
          Stream.of(LaunchConfiguration.class.getRecordComponents()).map(c -> c.getName()).toList();
      var unknown = configuration.propertyNames().stream().filter(k -> !known.contains(k)).toList();
      if (!unknown.isEmpty()) {
        throw new Rejection.Invalid(
            "unknown-configuration",
            "unknown key: configuration."
                + String.join(", configuration.", unknown)
                + "; known: "
                + String.join(", ", known)
                + ". Put the client's own data into configuration.metadata");
      }
    }

    /// Rejects options that this agent does not support.
    void checkFor(AgentTypeView agent, Set<String> honours) {
      var asked = new ArrayList<String>();
      add(asked, "model", model);
      add(asked, "allowedTools", allowedTools);
      add(asked, "disallowedTools", disallowedTools);
      add(asked, "mcp", mcp != null && mcp.namesConfigured() ? mcp : null);
      add(asked, "mcp.servers", mcp != null && mcp.definesOwn() ? mcp : null);
      add(asked, "instructions", instructions);
      add(asked, "customArgs", customArgs);
      asked.removeAll(honours);
      if (!asked.isEmpty()) {
        var can = honours.stream().sorted().collect(Collectors.joining(", "));
        throw new Rejection.Invalid(
            "the agent "
                + agent.id()
                + " does not support configuration."
                + String.join(", configuration.", asked)
                + (can.isEmpty()
                    ? ": leave it out, or choose an agent that is a program"
                    : ": leave it out; of the agent-specific keys it supports " + can));
      }
    }

    private static void add(List<String> asked, String name, @Nullable Object value) {
      if (value != null) {
        asked.add(name);
      }
    }

    /// The metadata of the task.
    ObjectNode taskMetadata(boolean raw) {
      var all = Json.object();
      var cli = Json.object();
      Json.putPresent(cli, "model", model);
      if (allowedTools != null) {
        allowedTools.forEach(cli.putArray("allowedTools")::add);
      }
      if (disallowedTools != null) {
        disallowedTools.forEach(cli.putArray("disallowedTools")::add);
      }
      if (customArgs != null) {
        customArgs.forEach(cli.putArray("customArgs")::add);
      }
      if (mcp != null) {
        mcp.servers().forEach(cli.putArray("mcp")::add);
      }
      Json.putPresent(cli, "instructions", instructions);
      if (!cli.isEmpty()) {
        TaskFacts.putOverrides(all, cli);
      }
      if (metadata != null) {
        TaskFacts.putClient(all, metadata);
      }
      if (raw) {
        TaskFacts.putKeepsAllLines(all);
      }
      return all;
    }
  }

  /// The MCP servers that an agent may use: names of configured servers, and objects that define
  /// others. `strict` means that it may use no others, which is always so.
  record LaunchMcpServers(List<JsonNode> servers, @Nullable Boolean strict) {
    LaunchMcpServers {
      servers = List.copyOf(servers);
      if (servers.isEmpty()) {
        throw new Rejection.Invalid("mcp.servers: at least one name is required");
      }
      if (Boolean.FALSE.equals(strict)) {
        throw new Rejection.Invalid(
            "mcp.strict can only be true: an agent uses only the named servers");
      }
      if (servers.stream().anyMatch(server -> !server.isString() && !server.isObject())) {
        throw new Rejection.Invalid("mcp.servers can have only names and objects");
      }
      if (servers.stream().anyMatch(server -> server.has("env") || server.has("headers"))) {
        throw new Rejection.Invalid(
            "mcp.servers: env and headers may contain secrets, which a task must not store;"
                + " configure the server in parley.yaml and name it");
      }
    }

    boolean namesConfigured() {
      return !servers.stream().allMatch(LaunchMcpServers::isOwn);
    }

    boolean definesOwn() {
      return servers.stream().anyMatch(LaunchMcpServers::isOwn);
    }

    private static boolean isOwn(JsonNode server) {
      return server.has("command") || server.has("url");
    }
  }
}
