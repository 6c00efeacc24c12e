package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Asks the user at the terminal a task's questions and sends the answers to the server. Without a
/// terminal, ends the program with a message that shows how to answer. For one thread.
final class TerminalQuestions {

  private static final int PREVIEW_LINES = 200;

  private final Terminal terminal;
  private final ParleyClient client;
  private final TerminalInput terminalInput;
  private final String server;

  TerminalQuestions(
      Terminal terminal, ParleyClient client, TerminalInput terminalInput, String server) {
    this.terminal = terminal;
    this.client = client;
    this.terminalInput = terminalInput;
    this.server = server;
  }

  /// Asks a question and sends the answer.
  ///
  /// @throws Exit if there is no terminal
  void ask(Entry entry, InputRequired asked) {
    var question = AskedQuestion.of(entry, asked);
    question.lines(PREVIEW_LINES).forEach(this::print);
    if (question.schema() != null
        && question.inputType() != InputType.CONFIRMATION
        && terminalInput.interactive()) {
      print("  Type the answer as JSON, such as " + AnswerCommandLine.example(question));
      print("  /decline refuses to answer, /skip leaves the question unanswered");
    }
    askUntilAccepted(
        "The task waits for an answer. Give it with:\n  " + answerCommands(question),
        () -> send(question));
  }

  /// Shows a sign-in, and asks for its secret if it can be typed.
  ///
  /// @throws Exit if there is no terminal
  void signIn(Entry entry, AuthRequired asked) {
    var question = AskedQuestion.of(entry, asked);
    question.lines(PREVIEW_LINES).forEach(this::print);
    switch (asked.authType()) {
      case API_KEY, PASSWORD, PAT, CUSTOM ->
          askUntilAccepted(
              "The task waits for a sign-in. Give the secret with:\n  " + answerCommands(question),
              () -> {
                var secret = terminalInput.readSecret("  " + asked.authType().wire() + ": ");
                if (secret == null) {
                  return false;
                }
                client.signIn(question.context(), asked.authId(), secret.strip());
                return true;
              });
      case OAUTH2, BIOMETRIC -> {
        // The user signs in with another program; an event reports the result.
        if (!terminalInput.interactive()) {
          throw new CommandExit(CommandExit.INPUT_NEEDED, "The task waits for a sign-in.");
        }
      }
    }
  }

  private String answerCommands(AskedQuestion question) {
    return String.join("\n  ", AnswerCommandLine.of(question, server));
  }

  /// Asks and sends; false if the input has ended.
  private interface Attempt {
    boolean run() throws IOException;
  }

  private void askUntilAccepted(String otherwise, Attempt attempt) {
    while (terminalInput.interactive()) {
      try {
        if (!attempt.run()) {
          break;
        }
        return;
      } catch (Rejection.Invalid misfit) {
        print("  " + TextSanitizer.text(String.valueOf(misfit.getMessage())));
      } catch (Rejection.Conflict settled) {
        print("  " + TextSanitizer.text(String.valueOf(settled.getMessage())));
        return;
      } catch (IOException unreadable) {
        throw new UncheckedIOException(unreadable);
      }
    }
    throw new CommandExit(CommandExit.INPUT_NEEDED, otherwise);
  }

  private boolean send(AskedQuestion asked) throws IOException {
    var value = asked.inputType() == InputType.CONFIRMATION ? confirm(asked) : value(asked);
    if (value == null) {
      return false;
    }
    client.answer(asked.context(), new InputId(asked.id()), value);
    return true;
  }

  private @Nullable JsonNode confirm(AskedQuestion asked) throws IOException {
    var arguments = asked.arguments();
    var choices = arguments.isObject() ? "[y]es, [n]o, [e]dit" : "[y]es, [n]o";
    for (var typed = read(choices); typed != null; typed = read(choices)) {
      var words = typed.strip().split("\\s+", 2);
      var reason = words.length > 1 ? words[1] : null;
      switch (words[0].toLowerCase(Locale.ROOT)) {
        case "y", "yes" -> {
          return AnswerValue.of("yes", InputType.CONFIRMATION, null);
        }
        case "n", "no" -> {
          return AnswerValue.confirmation(false, reason, null);
        }
        case "e", "edit" -> {
          var edited = arguments.isObject() ? edit(arguments) : null;
          if (edited != null) {
            return AnswerValue.confirmation(true, null, edited);
          }
        }
        default -> print("  y, n, or n and a reason" + (arguments.isObject() ? ", or e" : ""));
      }
    }
    return null;
  }

  private @Nullable ObjectNode edit(JsonNode arguments) throws IOException {
    print("  now: " + TextSanitizer.visible(arguments.toString()));
    // Arguments with invisible characters cannot be edited safely: the user types them again.
    var shown = TextSanitizer.visible(arguments.toString());
    var start = shown.equals(arguments.toString()) ? shown : "";
    var typed = terminalInput.read("  arguments as JSON: ", start);
    var edited = typed == null ? null : AnswerValue.object(typed);
    if (edited == null) {
      print("  That is not a JSON object.");
    }
    return edited;
  }

  private @Nullable JsonNode value(AskedQuestion asked) throws IOException {
    var options = asked.options();
    var typed = read(options.isEmpty() ? "answer" : "number or text");
    if (typed == null) {
      return null;
    }
    var text = typed.strip();
    if (text.equals("/decline")) {
      return AnswerValue.declined();
    }
    if (text.equals("/skip")) {
      return AnswerValue.skipped();
    }
    if (!options.isEmpty() && text.matches("\\d{1,4}")) {
      var number = Integer.parseInt(text);
      if (number >= 1 && number <= options.size()) {
        return options.get(number - 1);
      }
    }
    return AnswerValue.of(text, asked.inputType(), options);
  }

  private @Nullable String read(String what) throws IOException {
    return terminalInput.read("  " + what + ": ");
  }

  /// Prints the line even if standard error is not a terminal: the question must be visible.
  private void print(String line) {
    terminal.err().println(terminal.errStyle().yellow(line));
  }
}
