package dev.parley.app;

import dev.parley.client.Page;
import dev.parley.client.ParleyClient;
import dev.parley.client.Rewind;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
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
  private final Chat chat;
  private final Lines lines;
  private final Completions completions;

  ChatLoop(
      Terminal terminal, ParleyClient client, Chat chat, Lines lines, Completions completions) {
    this.terminal = terminal;
    this.client = client;
    this.chat = chat;
    this.lines = lines;
    this.completions = completions;
  }

  int run() throws InterruptedException, IOException {
    tell("Type a message. /help lists the commands, /quit exits.");
    var context = chat.context();
    if (context != null) {
      announce(context);
    }
    for (var typed = read(); typed != null; typed = read()) {
      // Only a line that could select an agent needs the list of agents.
      var agents = typed.strip().startsWith("@") ? agents() : List.<String>of();
      var line = ChatLine.of(typed, agents);
      if (line instanceof ChatLine.Do(var command, _) && command == ChatLine.Command.QUIT) {
        return 0;
      }
      try {
        follow(line);
      } catch (Rejection rejection) {
        // The rejection is shown, and the chat continues.
        complain(rejection.getMessage() + " (" + rejection.code() + ")");
      } catch (Exit exit) {
        if (exit.code() == Exit.INPUT_NEEDED) {
          throw exit;
        }
        complain(String.valueOf(exit.getMessage()));
      }
    }
    return 0;
  }

  private @Nullable String read() throws IOException {
    var agent = chat.agent();
    return lines.readMessage((agent == null ? "" : agent) + "> ");
  }

  private void follow(ChatLine line) throws InterruptedException, IOException {
    switch (line) {
      case ChatLine.Blank _ -> {}
      case ChatLine.Say(var agent, var text) -> {
        var _ = agent == null ? chat.say(text) : chat.say(text, new AgentTypeId(agent));
      }
      case ChatLine.Unknown(var word) ->
          tell("Unknown: " + Clean.line(word, LINE_MAX) + " (/help lists the commands)");
      case ChatLine.Do(var command, var rest) -> run(command, rest);
    }
  }

  private void run(ChatLine.Command command, String rest) throws IOException {
    switch (command) {
      case HELP -> help();
      case AGENTS ->
          AgentsCommand.table(client.agentTypes()).print(terminal.out(), terminal.outStyle());
      case AGENT -> agent(rest);
      case ARTIFACTS -> artifacts(rest);
      case NEW -> {
        chat.moveTo(null);
        tell("The next message starts a new context.");
      }
      case CONTINUE -> {
        var lookup = new Lookup(client);
        var context = rest.isEmpty() ? lookup.last() : lookup.context(rest);
        chat.moveTo(context);
        announce(context);
      }
      case REWIND -> rewind();
      case COST -> cost();
      case VERBOSE ->
          tell(chat.toggleVerbose() ? "All details are shown." : "Details are no longer shown.");
      case QUIT -> throw new IllegalStateException("the loop has ended");
    }
  }

  private void agent(String name) {
    if (name.isEmpty()) {
      chat.askAgent(null);
      tell("The server chooses the agent.");
    } else if (agents().contains(name)) {
      chat.askAgent(new AgentTypeId(name));
      tell("Messages go to " + name + ".");
    } else {
      var near = NameSuggestions.to(name, agents());
      complain(
          "There is no agent "
              + Clean.line(name, LINE_MAX)
              + (near.isEmpty()
                  ? ". /agents lists them."
                  : ". Did you mean " + near.getFirst() + "?"));
    }
  }

  private List<String> agents() {
    return completions.agents().stream().map(agent -> agent.id().value()).toList();
  }

  private void artifacts(String name) throws IOException {
    var context = here();
    var artifacts = ArtifactsCommand.all(client, context);
    if (!name.isEmpty()) {
      var one = ArtifactsCommand.find(artifacts, name);
      ArtifactsCommand.print(terminal, client, context, one, null);
    } else if (artifacts.isEmpty()) {
      tell("There are no artifacts yet.");
    } else {
      ArtifactsCommand.table(artifacts).print(terminal.out(), terminal.outStyle());
    }
  }

  private void rewind() {
    var context = here();
    var last =
        Page.collect(cursor -> client.tasks(context, cursor, PAGE), Integer.MAX_VALUE).stream()
            .filter(task -> task.parentTaskId() == null)
            .reduce((_, later) -> later)
            .orElseThrow(() -> new Exit(Exit.FAILED, "There is no message to take back."));
    client.rewind(context, Rewind.before(last.taskId()));
    var prompt = last.prompt();
    tell("Taken back: " + (prompt == null ? last.taskId() : Clean.line(prompt, LINE_MAX)));
  }

  private void cost() {
    var usage = client.snapshot(here()).usage();
    if (usage.isEmpty()) {
      tell("No model was called yet.");
    } else {
      ContextPage.usageTable(usage).print(terminal.out(), terminal.outStyle());
    }
  }

  /// @throws Exit if there is no context yet
  private ContextId here() {
    var context = chat.context();
    if (context == null) {
      throw new Exit(Exit.FAILED, "There is no context yet: send a message first.");
    }
    return context;
  }

  private void announce(ContextId context) {
    var info = client.context(context);
    var title = info.title();
    tell(
        terminal
            .errStyle()
            .dim(
                "context %s, %d messages%s"
                    .formatted(
                        context,
                        info.messageCount(),
                        title == null ? "" : ": " + Clean.line(title, LINE_MAX))));
  }

  private void help() {
    for (var command : ChatLine.Command.values()) {
      tell("%-22s %s".formatted(command.usage(), command.description()));
    }
    tell("%-22s %s".formatted("@NAME TEXT", "sends one message to this agent"));
    tell("");
    tell("%-22s %s".formatted("Alt-Enter, or \\ Enter", "starts a new line of the message"));
    tell("%-22s %s".formatted("Up, Ctrl-R, Tab", "earlier messages, search, completion"));
    tell(
        "%-22s %s"
            .formatted(
                "Ctrl-C", "cancels the running task, and at a question also exits; at the"));
    tell("%-22s %s".formatted("", "prompt, discards the typed text, or, pressed twice, exits"));
    var context = chat.context();
    tell(context == null ? "No context yet." : "This is context " + context);
  }

  private void tell(String line) {
    terminal.err().println(line);
  }

  private void complain(String line) {
    terminal.err().println(terminal.errStyle().red(Clean.text(line)));
  }
}
