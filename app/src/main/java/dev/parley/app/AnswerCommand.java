package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.PendingView;
import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/// `parley answer`.
@Command(
    name = "answer",
    mixinStandardHelpOptions = true,
    description = {
      "Answers a task's question. Without INPUT, lists the open questions of the context.",
      "For a sign-in, the command reads the secret from standard input."
    },
    footer = {
      "",
      "Examples:",
      "  parley answer CONTEXT",
      "  parley answer CONTEXT INPUT yes",
      "  parley answer --last INPUT yes",
      "  parley answer CONTEXT INPUT no --reason \"not on a Friday\"",
      "  parley answer CONTEXT INPUT yes --arguments '{\"path\":\"b.txt\"}'",
      "  parley answer CONTEXT INPUT --always context",
      "  parley answer CONTEXT INPUT --skip"
    })
final class AnswerCommand extends ServerCommand {

  @Option(names = "--last", description = "The context that changed last, instead of CONTEXT.")
  private boolean last;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "CONTEXT",
      description = "The context of the task: its id, or the first 4 or more characters of it.")
  private @Nullable String context;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "INPUT",
      description =
          "The question to answer: its id, or the first 4 or more characters of it. Default: list"
              + " the open questions.")
  private @Nullable String input;

  @Parameters(
      index = "2",
      arity = "0..1",
      paramLabel = "VALUE",
      description = "The answer: yes or no for a confirmation; otherwise JSON or text.")
  private @Nullable String value;

  @Option(names = "--reason", paramLabel = "TEXT", description = "The reason for the answer.")
  private @Nullable String reason;

  @Option(
      names = "--arguments",
      paramLabel = "JSON",
      description = "Approve the call with these arguments instead.")
  private @Nullable String arguments;

  @Option(
      names = "--always",
      paramLabel = "SCOPE",
      description =
          "Approve the call, and always allow exactly this call: in this context, for this agent, or"
              + " everywhere (context, agent, everywhere). See parley rules.")
  private @Nullable String always;

  @Option(
      names = "--expires",
      paramLabel = "TIME",
      description =
          "When --always ends, such as 2026-12-24T00:00:00Z, at most a year ahead. Default: after 30"
              + " days.")
  private @Nullable String expires;

  @Option(names = "--decline", description = "Refuse to answer the question.")
  private boolean decline;

  @Option(names = "--skip", description = "Leave the question unanswered; the agent continues.")
  private boolean skip;

  AnswerCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  void checkArguments() {
    if (!last) {
      return;
    }
    if (value != null) {
      throw new CommandExit(CommandExit.USAGE, "Give either CONTEXT or --last, not both.");
    }
    // With --last there is no CONTEXT before INPUT and VALUE.
    value = input;
    input = context;
    context = null;
  }

  @Override
  void run(ParleyClient client) throws IOException {
    var place = last ? new IdLookup(client).last() : ContextArgument.find(client, context);
    var asked =
        InboxCommand.items(client).stream().filter(item -> item.contextId().equals(place)).toList();
    if (input == null) {
      InboxCommand.print(terminal, asked, AskedQuestion.ALL_LINES, server.commandLineOptions());
      return;
    }
    input = IdLookup.question(input, asked);
    var item = asked.stream().filter(one -> one.id().equals(input)).findFirst();
    answer(client, place, item);
    terminal.out().println("Answered: " + input);
  }

  private void answer(ParleyClient client, ContextId place, Optional<PendingView> item)
      throws IOException {
    var auth = item.map(PendingView::authId).orElseGet(() -> closedSignIn(item));
    if (auth != null) {
      if (decline || skip) {
        throw new CommandExit(
            CommandExit.USAGE, "--decline and --skip are for questions, not for a sign-in.");
      }
      if (value != null) {
        // A secret among the arguments would be visible in the shell's history and the process
        // list.
        throw new CommandExit(
            CommandExit.USAGE, "Pipe the secret in, or type it when asked, without VALUE.");
      }
      client.signIn(place, auth, secret());
    } else {
      client.answer(place, new InputId(String.valueOf(input)), value(item));
    }
  }

  /// A question that is no longer open, answered without VALUE, can only have been a sign-in. The
  /// server then reports what became of it.
  private @Nullable AuthId closedSignIn(Optional<PendingView> item) {
    return item.isEmpty()
            && value == null
            && arguments == null
            && always == null
            && !decline
            && !skip
            && input != null
        ? new AuthId(input)
        : null;
  }

  private JsonNode value(Optional<PendingView> item) {
    if (expires != null && always == null) {
      throw new CommandExit(CommandExit.USAGE, "--expires is for --always.");
    }
    if (decline || skip) {
      if (decline == skip
          || value != null
          || reason != null
          || arguments != null
          || always != null) {
        throw new CommandExit(CommandExit.USAGE, "Give either a VALUE, or --decline, or --skip.");
      }
      return decline ? AnswerValue.declined() : AnswerValue.skipped();
    }
    if (value == null && arguments == null && always == null) {
      throw new CommandExit(
          CommandExit.USAGE, "The answer is missing: give a VALUE, such as yes or no.");
    }
    var type =
        reason != null || arguments != null || always != null
            ? InputType.CONFIRMATION
            : item.map(PendingView::inputType).orElse(null);
    var plain =
        AnswerValue.of(
            value == null ? "yes" : value, type, item.map(PendingView::options).orElse(null));
    if (reason == null && arguments == null && always == null) {
      return plain;
    }
    if (!plain.isBoolean()) {
      throw new CommandExit(
          CommandExit.USAGE, "--reason, --arguments and --always need the answer yes or no.");
    }
    var edited = arguments == null ? null : AnswerValue.object(arguments);
    if (arguments != null && edited == null) {
      throw new CommandExit(CommandExit.USAGE, "--arguments must be a JSON object.");
    }
    if (always != null && (edited != null || !plain.asBoolean())) {
      throw new CommandExit(
          CommandExit.USAGE, "--always is for the answer yes, without --arguments.");
    }
    var answer = AnswerValue.confirmation(plain.asBoolean(), reason, edited);
    if (always != null) {
      Json.putPresent(answer.putObject("remember").put("scope", always), "expires", expires);
    }
    return answer;
  }

  private String secret() throws IOException {
    var terminalInput = new TerminalInput(terminal);
    var secret =
        terminalInput.interactive() ? terminalInput.readSecret("secret: ") : terminalInput.read("");
    if (secret == null || secret.isBlank()) {
      throw new CommandExit(CommandExit.USAGE, "There is no secret on standard input.");
    }
    return secret.strip();
  }
}
