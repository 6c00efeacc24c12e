package dev.parley.app;

import dev.parley.protocol.Rejection;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Talks line by line on a terminal.
final class ChatLoop {

  private final Terminal terminal;
  private final Chat chat;
  private final Lines lines;

  ChatLoop(Terminal terminal, Chat chat, Lines lines) {
    this.terminal = terminal;
    this.chat = chat;
    this.lines = lines;
  }

  int run() throws InterruptedException, IOException {
    terminal.err().println("Say something; /help tells more, /quit leaves.");
    for (var line = read(); line != null; line = read()) {
      var text = line.strip();
      switch (text) {
        case "" -> {}
        case "/quit", "/exit", "/q" -> {
          return 0;
        }
        case "/new" -> {
          chat.startAnew();
          terminal.err().println("The next message starts a new context.");
        }
        case "/help", "/?" -> help();
        default -> {
          if (text.startsWith("/")) {
            terminal.err().println("Unknown: " + Clean.line(text, 80) + " (/help tells more)");
          } else {
            say(text);
          }
        }
      }
    }
    return 0;
  }

  private @Nullable String read() throws IOException {
    return lines.read("> ");
  }

  /// What the server refuses is shown, and the conversation goes on.
  private void say(String text) throws InterruptedException {
    try {
      var _ = chat.say(text);
    } catch (Rejection rejection) {
      var message = Clean.text(rejection.getMessage() + " (" + rejection.code() + ")");
      terminal.err().println(terminal.errStyle().red(message));
    }
  }

  private void help() {
    terminal.err().println("/new    start a new context");
    terminal.err().println("/quit   leave (so does Ctrl-D)");
    terminal
        .err()
        .println("Ctrl-C  cancel the task that runs; at a question or a prompt, also leave");
    var context = chat.context();
    terminal.err().println(context == null ? "No context yet." : "This is context " + context);
  }
}
