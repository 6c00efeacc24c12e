package dev.parley.agent;

import dev.parley.model.Prompt;
import dev.parley.model.Prompt.Part;
import dev.parley.model.Prompt.ToolDescription;
import dev.parley.model.Reply;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ThoughtEvent.InternalLlmCall;
import dev.parley.protocol.ToolCallId;
import dev.parley.task.Agent;
import dev.parley.task.Outcome;
import dev.parley.task.Run;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/// An agent that asks a model, runs the tools it wants, and asks again until there is an answer.
public final class ModelLoop implements Agent {

  private static final int FAILED_TURNS_MAX = 3;

  private final AgentType type;
  private final Memory memory;
  private final int turnsMax;
  private final List<ToolDescription> tools;

  public ModelLoop(AgentType type, Memory memory, int turnsMax) {
    this.type = type;
    this.memory = memory;
    this.turnsMax = turnsMax;
    this.tools =
        type.tools().stream()
            .map(t -> new ToolDescription(t.name(), t.description(), t.schema()))
            .toList();
  }

  @Override
  public Outcome work(Run run) throws InterruptedException {
    try (var pen = new Pen(run)) {
      return new Work(run, pen, memory.recall(run)).go();
    }
  }

  /// One task's way through the loop. For one thread.
  private final class Work {
    private final Run run;
    private final Pen pen;
    private final Calls calls;
    private final List<Part> parts;
    private final List<String> answers = new ArrayList<>();
    private final Set<ToolCallId> used = new HashSet<>();
    private int thoughts;
    private int failedTurns;

    Work(Run run, Pen pen, List<Part> remembered) {
      this.run = run;
      this.pen = pen;
      this.calls = new Calls(run, type.tools());
      this.parts = new ArrayList<>(remembered);
    }

    Outcome go() throws InterruptedException {
      for (var turn = 1; turn <= turnsMax; turn++) {
        run.steering().take().forEach(m -> parts.add(new Part.Said(Role.USER, m.content())));
        var prompt = new Prompt(type.instructions(), parts, tools, null);
        pen.write(new InternalLlmCall(turn, type.model().name(), parts.size(), tools.size()));
        var scribe = new Scribe(pen, run.sources(), thoughts);
        switch (type.model().ask(prompt, scribe)) {
          case Reply.Failed(var code, var message, var retryable) -> {
            return new Outcome.Failed(code, message, retryable);
          }
          case Reply.Answered answer -> {
            var wanted = distinct(answer.calls());
            scribe.finish(answer, wanted);
            thoughts = scribe.thoughts();
            answers.add(scribe.text());
            if (wanted.isEmpty()) {
              parts.add(new Part.Said(Role.ASSISTANT, scribe.text()));
            } else {
              parts.add(new Part.Asked(scribe.text(), wanted, answer.memo()));
              makeCalls(wanted);
            }
            run.emit(List.of(new InternalCheckpoint(turn, null)));
            if (wanted.isEmpty() && run.steering().finish()) {
              return new Outcome.Completed(answer());
            }
          }
        }
        if (failedTurns == FAILED_TURNS_MAX) {
          return new Outcome.Failed(
              ErrorCode.TOOL_FAILED, "no tool worked " + failedTurns + " turns in a row", false);
        }
      }
      return new Outcome.Failed(
          ErrorCode.LIMIT, "the task was not done after " + turnsMax + " turns", false);
    }

    private void makeCalls(List<ToolCall> wanted) throws InterruptedException {
      var results = calls.make(wanted);
      parts.addAll(results);
      failedTurns = results.stream().anyMatch(Part.Returned::success) ? 0 : failedTurns + 1;
    }

    /// Some models number the calls of every turn from 0; ours have an id of their own.
    private List<ToolCall> distinct(List<ToolCall> wanted) {
      return wanted.stream()
          .map(
              call ->
                  used.add(call.id())
                      ? call
                      : new ToolCall(run.sources().toolCallId(), call.name(), call.arguments()))
          .toList();
    }

    private String answer() {
      return answers.stream().filter(text -> !text.isBlank()).collect(Collectors.joining("\n\n"));
    }
  }
}
