package dev.parley.app;

import dev.parley.app.Terminal.ColorMode;
import dev.parley.client.StreamGap;
import dev.parley.client.Unreachable;
import dev.parley.protocol.Rejection;
import dev.parley.server.NameSuggestions;
import java.util.ArrayList;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.UnmatchedArgumentException;

/// The command line: its commands, and how their errors are reported.
final class CommandLineProgram {

  private static final int WIDTH = 100;
  private static final int TYPED_SHOWN_MAX = 60;

  /// Options that may be given before a command.
  private static final Set<String> GLOBAL_OPTIONS = Set.of("--verbose", ColorMode.OPTION);

  private CommandLineProgram() {}

  /// Runs the command in `arguments` and returns the exit code.
  static int run(Terminal terminal, String... arguments) {
    return commandLine(terminal.with(ColorMode.fromArguments(arguments))).execute(arguments);
  }

  static CommandLine commandLine(Terminal terminal) {
    var root = new RootCommand(terminal);
    var line =
        new CommandLine(root)
            .addSubcommand(new ServeCommand(terminal))
            .addSubcommand(new ChatCommand(terminal, root))
            .addSubcommand(new TailCommand(terminal))
            .addSubcommand(new ContextsCommand(terminal))
            .addSubcommand(new TasksCommand(terminal))
            .addSubcommand(new ShowCommand(terminal))
            .addSubcommand(new ArtifactsCommand(terminal))
            .addSubcommand(new AgentsCommand(terminal))
            .addSubcommand(new CancelCommand(terminal))
            .addSubcommand(new InboxCommand(terminal))
            .addSubcommand(new AnswerCommand(terminal))
            .addSubcommand(new McpCommand(terminal))
            .addSubcommand(new RewindCommand(terminal))
            .addSubcommand(new ForkCommand(terminal))
            .addSubcommand(new ExportCommand(terminal))
            .addSubcommand(new RulesCommand(terminal))
            .addSubcommand(new PauseCommand(terminal))
            .addSubcommand(new ResumeCommand(terminal))
            .addSubcommand(new BudgetsCommand(terminal))
            .addSubcommand(new KeysCommand(terminal))
            .addSubcommand(new PeopleCommand(terminal))
            .addSubcommand(new InviteCommand(terminal))
            .addSubcommand(new ClusterCommand(terminal))
            .addSubcommand(new EncryptionCommand(terminal))
            .addSubcommand(new AuditCommand(terminal))
            .addSubcommand(new ImportCommand(terminal))
            .addSubcommand(new BackupCommand(terminal))
            .addSubcommand(new RestoreCommand(terminal))
            .addSubcommand(new DoctorCommand(terminal))
            .addSubcommand(new CompletionCommand(terminal))
            .addSubcommand(new HelpCommand())
            .addSubcommand(new WarmUpCommand(terminal));
    var ansi =
        terminal.outStyle().coloured() ? CommandLine.Help.Ansi.ON : CommandLine.Help.Ansi.OFF;
    return line.setOut(Terminal.writer(terminal.out()))
        .setErr(Terminal.writer(terminal.err()))
        .setColorScheme(CommandLine.Help.defaultColorScheme(ansi))
        .setUsageHelpWidth(WIDTH)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionStrategy(
            parsed -> execute(parsed, terminal.variable(ParentProcessMonitor.VARIABLE)))
        .setParameterExceptionHandler((wrong, _) -> reportUsageError(terminal, wrong))
        .setExecutionExceptionHandler((failure, _, _) -> reportFailure(terminal, root, failure));
  }

  private static int execute(ParseResult parsed, @Nullable String parent) {
    // Options before the command belong to `serve` and would be silently ignored.
    var early =
        parsed.matchedOptions().stream()
            .filter(option -> !option.inherited() && !option.usageHelp() && !option.versionHelp())
            .filter(option -> !GLOBAL_OPTIONS.contains(option.longestName()))
            .map(option -> option.longestName())
            .toList();
    if (parsed.hasSubcommand() && !early.isEmpty()) {
      var command = parsed.subcommand().commandSpec();
      var foreign = early.stream().filter(name -> command.findOption(name) == null).toList();
      throw new ParameterException(
          parsed.commandSpec().commandLine(),
          foreign.isEmpty()
              ? "Put %s after the command: parley %s ..."
                  .formatted(String.join(", ", early), command.name())
              : "parley %s has no %s, which is for parley serve."
                  .formatted(command.name(), String.join(", ", foreign)));
    }
    if (parent != null) {
      exitWithParent(parent, parsed);
    }
    return new RunLast().execute(parsed);
  }

  private static void exitWithParent(String parent, ParseResult parsed) {
    try {
      var pid = Long.parseLong(parent.strip());
      ParentProcessMonitor.start(pid, () -> Runtime.getRuntime().exit(CommandExit.CANCELED));
    } catch (NumberFormatException malformed) {
      throw new ParameterException(
          parsed.commandSpec().commandLine(),
          ParentProcessMonitor.VARIABLE + " is not a process id: " + parent);
    }
  }

  private static int reportUsageError(Terminal terminal, ParameterException wrong) {
    var line = wrong.getCommandLine();
    var message = wrong.getMessage();
    if (wrong instanceof UnmatchedArgumentException unmatched) {
      message = unknown(line, unmatched.getUnmatched().getFirst());
    }
    terminal.err().println(terminal.errStyle().red(TextSanitizer.text(String.valueOf(message))));
    terminal.err().println("Try: " + line.getCommandSpec().qualifiedName() + " --help");
    return CommandExit.USAGE;
  }

  private static String unknown(CommandLine line, String typed) {
    var names = new ArrayList<>(line.getCommandSpec().optionsMap().keySet());
    line.getSubcommands().entrySet().stream()
        .filter(command -> !command.getValue().getCommandSpec().usageMessage().hidden())
        .forEach(command -> names.add(command.getKey()));
    var shown = TextSanitizer.line(typed, TYPED_SHOWN_MAX);
    var nearest = NameSuggestions.to(shown, names);
    return "Unknown: "
        + shown
        + (nearest.isEmpty() ? "" : ". Did you mean " + String.join(" or ", nearest) + "?");
  }

  private static int reportFailure(Terminal terminal, RootCommand root, Exception failure) {
    if (root.verbose()) {
      failure.printStackTrace(terminal.err());
    }
    return switch (failure) {
      case CommandExit commandExit ->
          printError(terminal, commandExit.code(), commandExit.getMessage());
      case Unreachable unreachable ->
          printError(
              terminal,
              CommandExit.NO_SERVER,
              "No Parley server at "
                  + unreachable.url()
                  + ". Start one with: ./parley. To use another server, pass --data or --url, or"
                  + " set PARLEY_DATA or PARLEY_URL");
      case Rejection.Unauthorized unauthorized ->
          printError(
              terminal,
              CommandExit.FAILED,
              unauthorized.getMessage() + " (give a token with --token or PARLEY_TOKEN)");
      case Rejection.Invalid invalid when invalid.code().equals("invalid-url") ->
          printError(terminal, CommandExit.USAGE, invalid.getMessage());
      case Rejection rejection ->
          printError(
              terminal, CommandExit.FAILED, rejection.getMessage() + " (" + rejection.code() + ")");
      case StreamGap gap -> printError(terminal, CommandExit.FAILED, gap.getMessage());
      case InterruptedException _ -> CommandExit.CANCELED;
      // Any other exception is a bug, or a failure of the machine.
      default ->
          printError(
              terminal,
              CommandExit.FAILED,
              text(failure) + (root.verbose() ? "" : " (--verbose shows more)"));
    };
  }

  private static String text(Exception failure) {
    return failure.getMessage() == null
        ? failure.getClass().getSimpleName()
        : failure.getClass().getSimpleName() + ": " + failure.getMessage();
  }

  private static int printError(Terminal terminal, int code, @Nullable String message) {
    if (message != null && !message.isEmpty()) {
      terminal.err().println(terminal.errStyle().red(TextSanitizer.text(message)));
    }
    return code;
  }
}
