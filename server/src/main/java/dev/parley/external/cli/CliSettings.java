package dev.parley.external.cli;

import dev.parley.agent.ToolPolicy;
import dev.parley.mcp.McpServer;
import dev.parley.tool.Tool.Permission;
import dev.parley.tool.process.ProgramPath;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The configuration of a command-line agent.
public record CliSettings(
    CliProgram program,
    List<String> command,
    List<String> args,
    @Nullable String model,
    @Nullable String instructions,
    List<String> allowedTools,
    List<String> disallowedTools,
    List<McpServer> mcp,
    @Nullable Integer maxTurns,
    Map<String, String> environment,
    LineMapping mapping,
    List<String> resume,
    Duration silence,
    ToolPolicy policy) {

  /// The default for how long a program may be silent.
  public static final Duration SILENCE_TIMEOUT = Duration.ofMinutes(10);

  public CliSettings {
    command = List.copyOf(command);
    args = List.copyOf(args);
    allowedTools = List.copyOf(allowedTools);
    disallowedTools = List.copyOf(disallowedTools);
    mcp = List.copyOf(mcp);
    environment = Map.copyOf(environment);
    resume = List.copyOf(resume);
    if (command.isEmpty()) {
      throw new IllegalArgumentException("a command needs at least one word");
    }
  }

  /// One of [#supportedOverrides]: MCP servers that are not in the configuration.
  public static final String OWN_MCP = "mcp.servers";

  /// Settings that run this program by this command, with defaults for everything else.
  public static CliSettings of(
      CliProgram cliProgram, List<String> command, Map<String, String> environment) {
    return new CliSettings(
        cliProgram,
        command,
        List.of(),
        null,
        null,
        List.of(),
        List.of(),
        List.of(),
        null,
        environment,
        LineMapping.DEFAULT,
        List.of(),
        SILENCE_TIMEOUT,
        ToolPolicy.DEFAULT);
  }

  /// A copy with another policy.
  public CliSettings with(ToolPolicy other) {
    return with(silence, other);
  }

  /// True if a person decides on each call that is not denied, as [#askingAlways] wants it.
  boolean asksAlways() {
    return policy.standard() == Permission.ASK && policy.allow().isEmpty();
  }

  /// A copy that asks a person before each call for which the program asks, whatever the rules allow.
  /// Denied calls stay denied.
  public CliSettings askingAlways() {
    var denies = policy.standard() == Permission.DENY;
    var asking =
        new ToolPolicy(
            denies ? Permission.DENY : Permission.ASK,
            List.of(),
            // What the rules allow needs a person now.
            Stream.concat(policy.ask().stream(), denies ? policy.allow().stream() : Stream.of())
                .toList(),
            policy.deny());
    return new CliSettings(
        program,
        command,
        args,
        model,
        instructions,
        List.of(),
        disallowedTools,
        mcp,
        maxTurns,
        environment,
        mapping,
        resume,
        silence,
        program == CliProgram.JSONL ? policy : asking);
  }

  /// A copy with another limit for the silence of the program.
  public CliSettings withSilenceTimeout(Duration other) {
    return with(other, policy);
  }

  private CliSettings with(Duration otherSilence, ToolPolicy otherPolicy) {
    return new CliSettings(
        program,
        command,
        args,
        model,
        instructions,
        allowedTools,
        disallowedTools,
        mcp,
        maxTurns,
        environment,
        mapping,
        resume,
        otherSilence,
        otherPolicy);
  }

  /// A copy with the overrides of one task.
  CliSettings withTaskOverrides(
      @Nullable String otherModel,
      @Nullable String otherInstructions,
      List<String> allowed,
      List<String> disallowed,
      List<McpServer> servers,
      List<String> moreArgs) {
    return new CliSettings(
        program,
        command,
        moreArgs,
        otherModel,
        otherInstructions,
        allowed,
        disallowed,
        servers,
        maxTurns,
        environment,
        mapping,
        resume,
        silence,
        policy);
  }

  /// True if the program is to ask before it calls tools.
  boolean asks() {
    return policy.standard() == null || policy.standard() == Permission.ASK;
  }

  /// The prompt of a request, with the instructions before it at the start of a session.
  String prompt(ProgramRequest programRequest) {
    return instructions == null || programRequest.resume() != null
        ? programRequest.prompt()
        : instructions + "\n\n" + programRequest.prompt();
  }

  /// The tools that the configuration allows; `*` if the program decides.
  public List<String> toolNames() {
    var names =
        Stream.concat(
                allowedTools.stream(), policy.allow().stream().map(rule -> ToolPolicy.toolOf(rule)))
            .distinct()
            .toList();
    return names.isEmpty() ? List.of("*") : names;
  }

  /// The executable file of the program on this machine, if there is one.
  public Optional<Path> file() {
    return ProgramPath.find(command.getFirst(), environment, Path.of("").toAbsolutePath());
  }

  /// The names of the settings that a task may override.
  public Set<String> supportedOverrides() {
    var heeded =
        switch (program) {
          case CLAUDE ->
              Set.of("model", "allowedTools", "disallowedTools", "mcp", OWN_MCP, "customArgs");
          case CODEX -> Set.of("model", "mcp", OWN_MCP, "customArgs");
          case GEMINI -> Set.of("model", "allowedTools", "customArgs");
          case JSONL -> Set.of("customArgs");
        };
    var free = policy.allowsEverything();
    return Stream.concat(Stream.of("instructions"), heeded.stream())
        .filter(wish -> free || !Set.of("customArgs", OWN_MCP).contains(wish))
        .filter(wish -> !mcp.isEmpty() || !wish.equals("mcp"))
        .collect(Collectors.toUnmodifiableSet());
  }

  /// Leaves out the values of the environment, which may be secret.
  @Override
  public String toString() {
    return program.wire() + " " + command.getFirst();
  }
}
