package dev.parley.external.cli;

import dev.parley.agent.TaskQuestion.ApprovalDecision;
import dev.parley.external.cli.ProgramOutput.OutputItem;
import dev.parley.log.OpenTask;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.task.TaskRun;
import dev.parley.tool.process.ManagedProcesses;
import dev.parley.tool.process.ManagedProcesses.ProcessCommand;
import dev.parley.tool.process.ManagedProcesses.ProcessCommand.ProcessStreams;
import dev.parley.tool.process.ProcessIsolation;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One run of a program, from its start to the end of all processes that it started. For one
/// thread.
///
/// The last line of the program decides whether it succeeded. The exit code does not: an
/// interrupted program also ends with 0.
final class ProgramRun {

  /// How long a program may run after its result, or keep its output open after its end.
  private static final Duration AFTER_RESULT = Duration.ofSeconds(5);

  private static final Duration AFTER_END = Duration.ofSeconds(2);

  /// How long the output of a program is read after it was asked to stop. With
  /// [dev.parley.tool.process.Child#GRACE] and the time for killing, a program that ignores
  /// everything is gone within 2 s.
  static final Duration AFTER_INTERRUPT = Duration.ofSeconds(1);

  private static final int NOT_FOUND = 127;
  private static final int NOT_EXECUTABLE = 126;

  private final TaskRun taskRun;
  private final CliSettings settings;
  private final ProgramAdapter programAdapter;
  private final CliEventWriter cliEventWriter;
  private final Approvals approvals;
  private final Approvals.PermissionQuestions permissionQuestions;
  private final LineParser parser;
  private final ProgramRequest programRequest;
  private boolean gone;
  private long resultNanos;
  private ProgramEvent.@Nullable TurnFailure turnFailure;

  ProgramRun(
      TaskRun taskRun,
      CliSettings settings,
      ProgramAdapter programAdapter,
      CliEventWriter cliEventWriter,
      Approvals approvals,
      ProgramRequest programRequest) {
    this.taskRun = taskRun;
    this.programRequest = programRequest;
    this.settings = settings;
    this.programAdapter = programAdapter;
    this.cliEventWriter = cliEventWriter;
    this.approvals = approvals;
    this.permissionQuestions = approvals.new PermissionQuestions();
    this.parser = programAdapter.parser(programRequest);
  }

  /// Runs the program. Returns null if it succeeded, otherwise the failure.
  ProgramEvent.@Nullable TurnFailure work(
      ManagedProcesses managedProcesses, ProcessIsolation isolation) throws InterruptedException {
    var programLaunch = programAdapter.launch(programRequest, taskRun.workingDirectory());
    try (var config =
            programLaunch.config() == null ? null : PrivateTempFile.of(programLaunch.config());
        var managedProcess =
            managedProcesses.start(
                new ProcessCommand(
                    programLaunch.words(config),
                    taskRun.workingDirectory(),
                    settings.environment(),
                    ProcessStreams.ALL,
                    isolation.withReadable(config == null ? List.of() : List.of(config.path()))))) {
      try (var processPipes =
          new ProcessPipes(
              managedProcess, taskRun, this::checkWithdrawal, permissionQuestions::programEnded)) {
        if (!programLaunch.input().isEmpty()) {
          processPipes.send(programLaunch.input());
        }
        if (!programLaunch.keepsInputOpen()) {
          processPipes.send("");
        }
        readOutput(processPipes);
        finish();
        if (turnFailure == null && cliEventWriter.ended().isEmpty()) {
          // The program has closed its output: it ends by itself soon, or is stopped.
          var _ = managedProcess.await(AFTER_END);
          processPipes.stop();
          turnFailure =
              endedEarly(
                  managedProcess.alive() ? -1 : managedProcess.exitCode(),
                  processPipes.lastErrors());
        }
      }
    } catch (IOException unstartable) {
      return new ProgramEvent.TurnFailure(
          ErrorCode.INTERNAL, name() + " cannot be started: " + unstartable.getMessage(), false);
    }
    return turnFailure != null
        ? turnFailure
        : cliEventWriter.ended().map(ProgramEvent.TurnEnded::failure).orElse(null);
  }

  private void readOutput(ProcessPipes processPipes) throws InterruptedException {
    try {
      while (true) {
        var patience = patience();
        var batch =
            patience.isNegative()
                ? List.<OutputItem>of()
                : processPipes.programOutput().take(patience);
        if (batch.isEmpty()) {
          if (cliEventWriter.ended().isEmpty() && !gone) {
            turnFailure =
                new ProgramEvent.TurnFailure(
                    ErrorCode.TIMEOUT,
                    name() + " printed nothing for " + settings.silence().toSeconds() + " s",
                    true);
          }
          return;
        }
        if (!handle(batch, processPipes)) {
          return;
        }
      }
    } catch (InterruptedException stopped) {
      stop(processPipes);
      throw stopped;
    } catch (Rejection.TooLarge tooMuch) {
      turnFailure =
          new ProgramEvent.TurnFailure(
              ErrorCode.LIMIT, String.valueOf(tooMuch.getMessage()), false);
    }
  }

  private Duration patience() {
    if (cliEventWriter.ended().isPresent()) {
      return AFTER_RESULT.minusNanos(taskRun.sources().time().nanos() - resultNanos);
    }
    return gone ? AFTER_END : settings.silence();
  }

  /// False if the output has ended.
  private boolean handle(List<OutputItem> batch, ProcessPipes processPipes)
      throws InterruptedException {
    var more = true;
    for (var outputItem : batch) {
      switch (outputItem) {
        case OutputItem.OutputLine outputLine -> handleLine(outputLine, processPipes);
        case OutputItem.OutputClosed _ -> more = false;
        case OutputItem.ProcessExited _ -> gone = true;
      }
    }
    cliEventWriter.flush();
    return more;
  }

  private void handleLine(OutputItem.OutputLine outputLine, ProcessPipes processPipes)
      throws InterruptedException {
    var said = parser.read(outputLine.text());
    cliEventWriter.write(outputLine.text(), said);
    for (var one : said) {
      switch (one) {
        case ProgramEvent.PermissionAsked permissionAsked -> {
          cliEventWriter.flush();
          var call = cliEventWriter.call(permissionAsked.call());
          // The program does not wait for the answer to a question that it has withdrawn.
          approvals
              .decide(permissionAsked, call, permissionQuestions)
              .ifPresent(decision -> answer(permissionAsked, decision, processPipes));
        }
        case ProgramEvent.UnsupportedRequest(_, var refusal) -> processPipes.send(refusal);
        case ProgramEvent.LineToSend(var next) -> processPipes.send(next);
        // At the end, the program waits for the end of its input.
        case ProgramEvent.TurnEnded _ -> {
          resultNanos = taskRun.sources().time().nanos();
          processPipes.send("");
        }
        default -> {} // The event writer has written the others.
      }
    }
  }

  private void answer(
      ProgramEvent.PermissionAsked permissionAsked,
      ApprovalDecision approvalDecision,
      ProcessPipes processPipes) {
    switch (approvalDecision) {
      case ApprovalDecision.Allowed(var arguments) ->
          processPipes.send(permissionAsked.reply().allow(arguments));
      case ApprovalDecision.Denied(var reason) -> {
        processPipes.send(permissionAsked.reply().deny(reason));
        cliEventWriter.write("", parser.denied(permissionAsked, reason));
      }
    }
  }

  /// Handles withdrawals at once; the main loop may wait for the answer of a person.
  private void checkWithdrawal(String line) {
    programAdapter.withdrawnQuestion(line).ifPresent(permissionQuestions::withdraw);
  }

  /// Closes what the program left open.
  private void finish() {
    cliEventWriter.write("", parser.end());
    cliEventWriter.closeOpenItems();
  }

  /// Asks the program to stop, and writes its remaining output. A program that ignores the request
  /// is killed.
  ///
  /// A program that is to be resumed after a restart is not asked: it would close what is still
  /// open.
  private void stop(ProcessPipes processPipes) {
    try {
      var line = programAdapter.interruptLine();
      var canceled =
          taskRun.inspect(
              state ->
                  state
                      .openTask(taskRun.origin().taskId())
                      .filter(OpenTask::cancelRequested)
                      .isPresent());
      if (line.isPresent() && canceled && !gone) {
        processPipes.send(line.get());
        var time = taskRun.sources().time();
        var end = time.deadline(AFTER_INTERRUPT);
        while (cliEventWriter.ended().isEmpty()) {
          var left = Duration.ofNanos(time.remaining(end));
          var batch =
              left.isNegative() ? List.<OutputItem>of() : processPipes.programOutput().take(left);
          if (batch.isEmpty() || batch.contains(new OutputItem.OutputClosed())) {
            break;
          }
          for (var outputItem : batch) {
            if (outputItem instanceof OutputItem.OutputLine(var text, _)) {
              cliEventWriter.write(text, parser.read(text));
            }
          }
        }
      }
      cliEventWriter.write("", parser.end());
      cliEventWriter.flush();
    } catch (InterruptedException again) {
      Thread.currentThread().interrupt();
    } catch (Rejection ended) {
      // The task's end has already been written.
    }
  }

  private ProgramEvent.TurnFailure endedEarly(int code, String errors) {
    var said = errors.isBlank() ? "" : ". Its last error output:\n" + errors;
    if (code == NOT_FOUND || code == NOT_EXECUTABLE) {
      return new ProgramEvent.TurnFailure(
          ErrorCode.INTERNAL,
          name()
              + " was not found or cannot be executed; install it, or set its path in `command`"
              + said,
          false);
    }
    var how = code < 0 ? "was stopped" : "ended with exit code " + code;
    return new ProgramEvent.TurnFailure(
        ErrorCode.MODEL_ERROR, name() + " " + how + " without a result" + said, true);
  }

  private String name() {
    return settings.command().getFirst();
  }
}
