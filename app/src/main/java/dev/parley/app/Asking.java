package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Asks the person at the terminal what a task wants to know, and passes it on; where there is none,
/// says how to answer and leaves. For one thread.
final class Asking {

  private static final int LINE_MAX = 200;
  private static final int PREVIEW_LINES = 40;

  private final Terminal terminal;
  private final ParleyClient client;
  private final Lines lines;
  private final String server;

  Asking(Terminal terminal, ParleyClient client, Lines lines, String server) {
    this.terminal = terminal;
    this.client = client;
    this.lines = lines;
    this.server = server;
  }

  /// Gets an answer to a question.
  ///
  /// @throws Exit if there is nobody to ask
  void ask(ContextId context, InputRequired asked) {
    show("? " + Clean.line(Clean.visible(asked.prompt()), LINE_MAX));
    describe(asked);
    var how = String.join("\n  ", AnswerLine.of(context, asked, server));
    settle("The task waits for an answer. Give it with:\n  " + how, () -> send(context, asked));
  }

  /// Gets what is needed for a sign-in, if it can be typed.
  ///
  /// @throws Exit if there is nobody to ask
  void signIn(ContextId context, AuthRequired asked) {
    show("? " + Clean.line(Clean.visible(asked.prompt()), LINE_MAX));
    if (asked.authUrl() != null) {
      show("  Open " + Clean.line(asked.authUrl(), 2 * LINE_MAX));
    }
    switch (asked.authType()) {
      case API_KEY, PASSWORD, PAT, CUSTOM ->
          settle(
              "The task waits for a sign-in. Give the secret with:\n  ./parley answer %s %s%s"
                  .formatted(context, asked.authId(), server),
              () -> {
                var secret = lines.readSecret("  " + asked.authType().wire() + ": ");
                if (secret == null) {
                  return false;
                }
                client.signIn(context, asked.authId(), secret.strip());
                return true;
              });
      case OAUTH2, BIOMETRIC -> {
        // Happens elsewhere, and arrives as an event.
        if (!lines.interactive()) {
          throw new Exit(Exit.INPUT_NEEDED, "The task waits until somebody has signed in.");
        }
      }
    }
  }

  /// Asks and sends; false if nobody is there any more.
  private interface Attempt {
    boolean run() throws IOException;
  }

  private void settle(String otherwise, Attempt attempt) {
    while (lines.interactive()) {
      try {
        if (!attempt.run()) {
          break;
        }
        return;
      } catch (Rejection.Invalid misfit) {
        show("  " + Clean.text(String.valueOf(misfit.getMessage())));
      } catch (Rejection.Conflict settled) {
        show("  " + Clean.text(String.valueOf(settled.getMessage())));
        return;
      } catch (IOException unreadable) {
        throw new UncheckedIOException(unreadable);
      }
    }
    throw new Exit(Exit.INPUT_NEEDED, otherwise);
  }

  private boolean send(ContextId context, InputRequired asked) throws IOException {
    var value = asked.inputType() == InputType.CONFIRMATION ? confirm(asked) : value(asked);
    if (value == null) {
      return false;
    }
    client.answer(context, asked.inputId(), value);
    return true;
  }

  private @Nullable JsonNode confirm(InputRequired asked) throws IOException {
    var arguments = call(asked).path("arguments");
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
        default -> show("  y, n, or n and a reason" + (arguments.isObject() ? ", or e" : ""));
      }
    }
    return null;
  }

  private @Nullable ObjectNode edit(JsonNode arguments) throws IOException {
    show("  now: " + Clean.text(arguments.toString()));
    var typed = read("arguments as JSON");
    var edited = typed == null ? null : AnswerValue.object(typed);
    if (edited == null) {
      show("  That is no JSON object.");
    }
    return edited;
  }

  private @Nullable JsonNode value(InputRequired asked) throws IOException {
    var options = asked.options() == null ? List.<JsonNode>of() : asked.options();
    var typed = read(options.isEmpty() ? "answer" : "number or text");
    if (typed == null) {
      return null;
    }
    var text = typed.strip();
    if (!options.isEmpty() && text.matches("\\d{1,4}")) {
      var number = Integer.parseInt(text);
      if (number >= 1 && number <= options.size()) {
        return options.get(number - 1);
      }
    }
    return AnswerValue.of(text, asked.inputType(), options);
  }

  private @Nullable String read(String what) throws IOException {
    return lines.read("  " + what + ": ");
  }

  private void describe(InputRequired asked) {
    var call = call(asked);
    if (call.has("toolName")) {
      var name = Clean.line(call.path("toolName").asString(), LINE_MAX);
      show("  " + name + " " + Clean.visible(call.path("arguments").toString()));
    }
    var metadata = asked.metadata();
    var preview = metadata == null ? "" : metadata.path("preview").asString("");
    Clean.visible(preview).lines().limit(PREVIEW_LINES).forEach(line -> show("  | " + line));
    if (preview.lines().count() > PREVIEW_LINES) {
      show("  | ...");
    }
    var options = asked.options() == null ? List.<JsonNode>of() : asked.options();
    for (var i = 0; i < options.size(); i++) {
      var option = options.get(i);
      var text = option.isString() ? option.asString() : option.toString();
      show("  " + (i + 1) + ") " + Clean.line(text, LINE_MAX));
    }
  }

  private static JsonNode call(InputRequired asked) {
    var metadata = asked.metadata();
    return metadata == null ? Json.object() : metadata.path("toolCall");
  }

  /// Also where standard error is no terminal: this is what somebody has to see.
  private void show(String line) {
    terminal.err().println(terminal.errStyle().yellow(line));
  }
}
