package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `parley chat`.
@Command(
    name = "chat",
    mixinStandardHelpOptions = true,
    description = {
      "Sends a message and shows the answer as it arrives.",
      "Without TEXT, reads standard input; on a terminal, starts an interactive chat.",
      "If the output is piped, prints only the answer."
    },
    footer = {
      "",
      "Examples:",
      "  parley chat \"count to 20\"",
      "  parley chat --continue \"and now to 30\"",
      "  git diff | parley chat > review.txt",
      "",
      "Ctrl-C cancels the task; at a question, it also exits. A second Ctrl-C exits at once.",
      "Exit codes: 0 success, 1 the task failed, 3 no server, 4 an answer is needed, 130 canceled"
    })
final class ChatCommand implements Callable<Integer> {

  /// The maximum size of standard input; a server may have a lower limit.
  private static final int INPUT_MAX = 8 << 20;

  private final Terminal terminal;
  private final RootCommand root;

  @Mixin private final ServerOptions server = new ServerOptions();

  @Option(
      names = "--context",
      paramLabel = "ID",
      description =
          "The context to continue: its id, or the first 4 or more characters of it. Default: a"
              + " new one.")
  private @Nullable String context;

  @Option(
      names = {"--continue", "--last"},
      description = "Continue the context that changed last.")
  private boolean last;

  @Option(
      names = "--agent",
      paramLabel = "ID",
      description = "The agent to send the message to. Default: the server chooses.")
  private @Nullable String agent;

  @Option(
      names = "--when-busy",
      paramLabel = "POLICY",
      description =
          "If a task already runs: enqueue (default), reject, interrupt, rollback, steer.")
  private @Nullable WhenBusy whenBusy;

  @Option(names = "--thoughts", description = "Also show the agents' thoughts.")
  private boolean thoughts;

  @Option(names = "--json", description = "Print every event as one line of JSON instead.")
  private boolean json;

  @Parameters(
      paramLabel = "TEXT",
      description = "The message to send; - reads it from standard input.")
  private List<String> text = List.of();

  /// How a message is handled while a task of its context runs.
  enum WhenBusy {
    enqueue,
    reject,
    interrupt,
    rollback,
    steer
  }

  ChatCommand(Terminal terminal, RootCommand root) {
    this.terminal = terminal;
    this.root = root;
  }

  @Override
  public Integer call() throws InterruptedException, IOException {
    if (last && context != null) {
      throw new CommandExit(CommandExit.USAGE, "Give either --context or --continue, not both.");
    }
    try (var status = new StatusLine(terminal);
        var client = server.client(status.terminal())) {
      var chatCompleter = new ChatCompleter(client::agentTypes);
      var loop = text.isEmpty() && terminal.inIsTerminal();
      var message = loop ? "" : message();
      try (var terminalInput = new TerminalInput(status.terminal(), chatCompleter)) {
        var terminalChat = new TerminalChat(status, client, terminalInput, settings(client));
        return loop
            ? new ChatLoop(status.terminal(), client, terminalChat, terminalInput, chatCompleter)
                .run()
            : terminalChat.sendMessage(message);
      }
    }
  }

  private TerminalChat.Settings settings(ParleyClient client) {
    return new TerminalChat.Settings(
        context(new IdLookup(client)),
        agent == null ? null : new AgentTypeId(agent),
        whenBusy == null ? null : whenBusy.name(),
        thoughts,
        json,
        root.verbose(),
        server.commandLineOptions());
  }

  private @Nullable ContextId context(IdLookup idLookup) {
    if (last) {
      return idLookup.last();
    }
    return context == null ? null : idLookup.context(context);
  }

  private String message() throws IOException {
    var message = String.join(" ", text);
    if (!text.isEmpty() && !message.equals("-")) {
      return message;
    }
    var bytes = terminal.in().readNBytes(INPUT_MAX + 1);
    if (bytes.length > INPUT_MAX) {
      throw new CommandExit(
          CommandExit.USAGE, "Standard input is longer than a message may be (8 MiB).");
    }
    var input = new String(bytes, StandardCharsets.UTF_8).strip();
    if (input.isEmpty()) {
      throw new CommandExit(
          CommandExit.USAGE, "The message is empty: give a TEXT, or pipe one in.");
    }
    return input;
  }
}
