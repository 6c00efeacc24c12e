package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.client.Rewind;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ResultPage;
import dev.parley.server.NameSuggestions;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An interactive chat: reads and runs one line after another.
final class ChatLoop {

  private static final int PAGE = 200;
  private static final int LINE_MAX = 80;

  private final Terminal terminal;
  private final ParleyClient client;
  private final TerminalChat terminalChat;
  private final TerminalInput terminalInput;
  private final ChatCompleter chatCompleter;

  ChatLoop(
      Terminal terminal,
      ParleyClient client,
      TerminalChat terminalChat,
      TerminalInput terminalInput,
      ChatCompleter chatCompleter) {
    this.terminal = terminal;
    this.client = client;
    this.terminalChat = terminalChat;
    this.terminalInput = terminalInput;
    this.chatCompleter = chatCompleter;
  }

  int run() throws InterruptedException, IOException {
    print("Type a message. /help lists the commands, /quit exits.");
    var context = terminalChat.context();
    if (context != null) {
      printContext(context);
    }
    for (var typed = read(); typed != null; typed = read()) {
      // Only a line that could select an agent needs the list of agents.
      var agents = typed.strip().startsWith("@") ? agents() : List.<String>of();
      var line = ChatInput.of(typed, agents);
      if (line instanceof ChatInput.CommandInput(var chatCommandName, _)
          && chatCommandName == ChatInput.ChatCommandName.QUIT) {
        return 0;
      }
      try {
        execute(line);
      } catch (Rejection rejection) {
        // The rejection is shown, and the chat continues.
        printError(rejection.getMessage() + " (" + rejection.code() + ")");
      } catch (CommandExit commandExit) {
        if (commandExit.code() == CommandExit.INPUT_NEEDED) {
          throw commandExit;
        }
        printError(String.valueOf(commandExit.getMessage()));
      }
    }
    return 0;
  }

  private @Nullable String read() throws IOException {
    var agent = terminalChat.agent();
    return terminalInput.readMessage((agent == null ? "" : agent) + "> ");
  }

  private void execute(ChatInput line) throws InterruptedException, IOException {
    switch (line) {
      case ChatInput.BlankInput _ -> {}
      case ChatInput.MessageInput(var agent, var text) -> {
        var _ =
            agent == null
                ? terminalChat.sendMessage(text)
                : terminalChat.sendMessage(text, new AgentTypeId(agent));
      }
      case ChatInput.UnknownCommand(var word) ->
          print("Unknown: " + TextSanitizer.line(word, LINE_MAX) + " (/help lists the commands)");
      case ChatInput.CommandInput(var chatCommandName, var rest) -> run(chatCommandName, rest);
    }
  }

  private void run(ChatInput.ChatCommandName chatCommandName, String rest) throws IOException {
    switch (chatCommandName) {
      case HELP -> help();
      case AGENTS ->
          AgentsCommand.table(client.agentTypes()).print(terminal.out(), terminal.outStyle());
      case AGENT -> agent(rest);
      case ARTIFACTS -> artifacts(rest);
      case NEW -> {
        terminalChat.moveTo(null);
        print("The next message starts a new context.");
      }
      case CONTINUE -> {
        var idLookup = new IdLookup(client);
        var context = rest.isEmpty() ? idLookup.last() : idLookup.context(rest);
        terminalChat.moveTo(context);
        printContext(context);
      }
      case REWIND -> rewind();
      case COST -> cost();
      case VERBOSE ->
          print(
              terminalChat.toggleVerbose()
                  ? "All details are shown."
                  : "Details are no longer shown.");
      case QUIT -> throw new IllegalStateException("the loop has ended");
    }
  }

  private void agent(String name) {
    if (name.isEmpty()) {
      terminalChat.askAgent(null);
      print("The server chooses the agent.");
    } else if (agents().contains(name)) {
      terminalChat.askAgent(new AgentTypeId(name));
      print("Messages go to " + name + ".");
    } else {
      var near = NameSuggestions.to(name, agents());
      printError(
          "There is no agent "
              + TextSanitizer.line(name, LINE_MAX)
              + (near.isEmpty()
                  ? ". /agents lists them."
                  : ". Did you mean " + near.getFirst() + "?"));
    }
  }

  private List<String> agents() {
    return chatCompleter.agents().stream().map(agent -> agent.id().value()).toList();
  }

  private void artifacts(String name) throws IOException {
    var context = currentContext();
    var artifacts = ArtifactsCommand.all(client, context);
    if (!name.isEmpty()) {
      var one = ArtifactsCommand.find(artifacts, name);
      ArtifactsCommand.print(terminal, client, context, one, null);
    } else if (artifacts.isEmpty()) {
      print("There are no artifacts yet.");
    } else {
      ArtifactsCommand.table(artifacts).print(terminal.out(), terminal.outStyle());
    }
  }

  private void rewind() {
    var context = currentContext();
    var last =
        ResultPage.collect(cursor -> client.tasks(context, cursor, PAGE), Integer.MAX_VALUE)
            .stream()
            .filter(task -> task.parentTaskId() == null)
            .reduce((_, later) -> later)
            .orElseThrow(
                () -> new CommandExit(CommandExit.FAILED, "There is no message to take back."));
    client.rewind(context, Rewind.before(last.taskId()));
    var prompt = last.prompt();
    print("Taken back: " + (prompt == null ? last.taskId() : TextSanitizer.line(prompt, LINE_MAX)));
  }

  private void cost() {
    var usage = client.snapshot(currentContext()).usage();
    if (usage.isEmpty()) {
      print("No model was called yet.");
    } else {
      ContextText.usageTable(usage).print(terminal.out(), terminal.outStyle());
    }
  }

  /// @throws Exit if there is no context yet
  private ContextId currentContext() {
    var context = terminalChat.context();
    if (context == null) {
      throw new CommandExit(CommandExit.FAILED, "There is no context yet: send a message first.");
    }
    return context;
  }

  private void printContext(ContextId context) {
    var info = client.context(context);
    var title = info.title();
    print(
        terminal
            .errStyle()
            .dim(
                "context %s, %d messages%s"
                    .formatted(
                        context,
                        info.messageCount(),
                        title == null ? "" : ": " + TextSanitizer.line(title, LINE_MAX))));
  }

  private void help() {
    for (var chatCommandName : ChatInput.ChatCommandName.values()) {
      print("%-22s %s".formatted(chatCommandName.usage(), chatCommandName.description()));
    }
    print("%-22s %s".formatted("@NAME TEXT", "sends one message to this agent"));
    print("");
    print("%-22s %s".formatted("Alt-Enter, or \\ Enter", "starts a new line of the message"));
    print("%-22s %s".formatted("Up, Ctrl-R, Tab", "earlier messages, search, completion"));
    print(
        "%-22s %s"
            .formatted("Ctrl-C", "cancels the running task, and at a question also exits; at the"));
    print("%-22s %s".formatted("", "prompt, discards the typed text, or, pressed twice, exits"));
    var context = terminalChat.context();
    print(context == null ? "No context yet." : "This is context " + context);
  }

  private void print(String line) {
    terminal.err().println(line);
  }

  private void printError(String line) {
    terminal.err().println(terminal.errStyle().red(TextSanitizer.text(line)));
  }
}
