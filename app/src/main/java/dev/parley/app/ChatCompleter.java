package dev.parley.app;

import dev.parley.client.Unreachable;
import dev.parley.protocol.AgentTypeView;
import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Completes `/commands` and `@agents` at the start of a line of a chat. For one thread.
final class ChatCompleter {

  /// Completes nothing.
  static final ChatCompleter NONE = new ChatCompleter(List::of);

  private static final int DESCRIPTION_MAX = 60;

  /// A possible completion.
  record Completion(String text, @Nullable String description) {}

  private final Supplier<List<AgentTypeView>> server;
  private @Nullable List<AgentTypeView> agents;

  /// `server` returns the agents; it is called when they are first needed.
  ChatCompleter(Supplier<List<AgentTypeView>> server) {
    this.server = server;
  }

  /// The possible completions of the last word of `typed`.
  List<Completion> of(String typed) {
    var words = new ArrayList<Completion>();
    var line = typed.stripLeading();
    if (line.startsWith("/") && line.indexOf(' ') < 0) {
      for (var chatCommandName : ChatInput.ChatCommandName.values()) {
        words.add(new Completion(chatCommandName.word(), chatCommandName.description()));
      }
    } else if (line.startsWith(ChatInput.ChatCommandName.AGENT.word() + " ")) {
      addAgents(words, "");
    } else if (line.startsWith("@") && line.indexOf(' ') < 0) {
      addAgents(words, "@");
    }
    return words;
  }

  private void addAgents(List<Completion> words, String before) {
    for (var agent : agents()) {
      var description = agent.description();
      words.add(
          new Completion(
              before + agent.id(),
              description == null ? null : TextSanitizer.line(description, DESCRIPTION_MAX)));
    }
  }

  /// The agents of the server; none if the server cannot be asked.
  List<AgentTypeView> agents() {
    var known = agents;
    if (known == null) {
      try {
        known = List.copyOf(server.get());
      } catch (Rejection | Unreachable silent) {
        return List.of();
      }
      agents = known;
    }
    return known;
  }
}
