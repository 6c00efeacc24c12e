package dev.parley.app;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A line that the user typed in a chat.
sealed interface ChatInput {

  /// Nothing was typed.
  record BlankInput() implements ChatInput {}

  /// Text to send, to `agent` if it names one.
  record MessageInput(@Nullable String agent, String text) implements ChatInput {}

  /// A command with its argument.
  record CommandInput(ChatCommandName command, String rest) implements ChatInput {}

  /// A command that does not exist.
  record UnknownCommand(String word) implements ChatInput {}

  /// Commands of a chat.
  enum ChatCommandName {
    HELP("", "shows the commands and the keys"),
    AGENTS("", "lists the agents"),
    AGENT("[NAME]", "sends the next messages to this agent; without a name, the server chooses"),
    ARTIFACTS("[NAME]", "lists the artifacts of this context, or prints one"),
    NEW("", "starts a new context"),
    CONTINUE("[CONTEXT]", "continues another context; without an id, the one that changed last"),
    REWIND("", "takes back the last message and its answer"),
    COST("", "shows the tokens and the cost of this context"),
    VERBOSE("", "turns all details on or off"),
    QUIT("", "exits; so does Ctrl-D");

    private final String argument;
    private final String description;

    ChatCommandName(String argument, String description) {
      this.argument = argument;
      this.description = description;
    }

    /// The command as it is typed.
    String word() {
      return "/" + name().toLowerCase(Locale.ROOT);
    }

    /// The word with its argument.
    String usage() {
      return argument.isEmpty() ? word() : word() + " " + argument;
    }

    String description() {
      return description;
    }

    private static Optional<ChatCommandName> of(String word) {
      return switch (word) {
        case "/?" -> Optional.of(HELP);
        case "/q", "/exit" -> Optional.of(QUIT);
        default -> Stream.of(values()).filter(one -> one.word().equals(word)).findFirst();
      };
    }
  }

  /// Parses a line. `@NAME` at its start selects an agent, if `agents` contains this name.
  static ChatInput of(String typed, List<String> agents) {
    var text = typed.strip();
    if (text.isEmpty()) {
      return new BlankInput();
    }
    var words = text.split("\\s+", 2);
    var rest = words.length > 1 ? words[1].strip() : "";
    if (words[0].startsWith("/")) {
      return ChatCommandName.of(words[0])
          .<ChatInput>map(chatCommandName -> new CommandInput(chatCommandName, rest))
          .orElseGet(() -> new UnknownCommand(words[0]));
    }
    if (words[0].startsWith("@") && !rest.isEmpty() && agents.contains(words[0].substring(1))) {
      return new MessageInput(words[0].substring(1), rest);
    }
    return new MessageInput(null, text);
  }
}
