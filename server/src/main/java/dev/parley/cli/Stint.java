package dev.parley.cli;

import dev.parley.cli.Approvals.Verdict;
import dev.parley.cli.Mailbox.Mail;
import dev.parley.log.OpenTask;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.task.Run;
import dev.parley.tool.process.Children;
import dev.parley.tool.process.Command;
import dev.parley.tool.process.Command.Wiring;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One run of a program, from its start to the end of all processes that it started. For one
/// thread.
///
/// The last line of the program decides whether it succeeded. The exit code does not: an
/// interrupted program also ends with 0.
final class Stint {

  /// How long a program may run after its result, or keep its output open after its end.
  private static final Duration AFTER_RESULT = Duration.ofSeconds(5);

  private static final Duration AFTER_END = Duration.ofSeconds(2);

  /// How long the output of a program is read after it was asked to stop. With
  /// [dev.parley.tool.process.Child#GRACE] and the time for killing, a program that ignores
  /// everything is gone within 2 s.
  static final Duration AFTER_INTERRUPT = Duration.ofSeconds(1);

  private static final int NOT_FOUND = 127;
  private static final int STARTS_NOT = 126;

  private final Run run;
  private final CliSettings settings;
  private final Dialect dialect;
  private final Narrator narrator;
  private final Approvals approvals;
  private final Approvals.Caller caller;
  private final LineParser parser;
  private final Errand errand;
  private boolean gone;
  private long resultNanos;
  private Said.@Nullable Failure failure;

  Stint(
      Run run,
      CliSettings settings,
      Dialect dialect,
      Narrator narrator,
      Approvals approvals,
      Errand errand) {
    this.run = run;
    this.errand = errand;
    this.settings = settings;
    this.dialect = dialect;
    this.narrator = narrator;
    this.approvals = approvals;
    this.caller = approvals.new Caller();
    this.parser = dialect.parser(errand);
  }

  /// Runs the program. Returns null if it succeeded, otherwise the failure.
  Said.@Nullable Failure work(Children children) throws InterruptedException {
    var launch = dialect.launch(errand, run.workingDirectory());
    try (var config = launch.config() == null ? null : PrivateFile.of(launch.config());
        var child =
            children.start(
                new Command(
                    launch.words(config),
                    run.workingDirectory(),
                    settings.environment(),
                    Wiring.TALK))) {
      try (var wires =
          new Wires(child, run.origin().taskId().value(), this::overhear, caller::leave)) {
        if (!launch.input().isEmpty()) {
          wires.tell(launch.input());
        }
        if (!launch.talks()) {
          wires.tell("");
        }
        listen(wires);
        settle();
        if (failure == null && narrator.ended().isEmpty()) {
          // The program has closed its output: it ends by itself soon, or is stopped.
          var _ = child.await(AFTER_END);
          wires.hangUp();
          failure = endedEarly(child.alive() ? -1 : child.exitCode(), wires.lastErrors());
        }
      }
    } catch (IOException unstartable) {
      return new Said.Failure(
          ErrorCode.INTERNAL, name() + " cannot be started: " + unstartable.getMessage(), false);
    }
    return failure != null ? failure : narrator.ended().map(Said.Ended::failure).orElse(null);
  }

  private void listen(Wires wires) throws InterruptedException {
    try {
      while (true) {
        var patience = patience();
        var batch = patience.isNegative() ? List.<Mail>of() : wires.mailbox().take(patience);
        if (batch.isEmpty()) {
          if (narrator.ended().isEmpty() && !gone) {
            failure =
                new Said.Failure(
                    ErrorCode.TIMEOUT,
                    name() + " printed nothing for " + settings.silence().toSeconds() + " s",
                    true);
          }
          return;
        }
        if (!handle(batch, wires)) {
          return;
        }
      }
    } catch (InterruptedException stopped) {
      stop(wires);
      throw stopped;
    } catch (Rejection.TooLarge tooMuch) {
      failure = new Said.Failure(ErrorCode.LIMIT, String.valueOf(tooMuch.getMessage()), false);
    }
  }

  private Duration patience() {
    if (narrator.ended().isPresent()) {
      return AFTER_RESULT.minusNanos(System.nanoTime() - resultNanos);
    }
    return gone ? AFTER_END : settings.silence();
  }

  /// False if the output has ended.
  private boolean handle(List<Mail> batch, Wires wires) throws InterruptedException {
    var more = true;
    for (var mail : batch) {
      switch (mail) {
        case Mail.Line line -> line(line, wires);
        case Mail.Silent _ -> more = false;
        case Mail.Gone _ -> gone = true;
      }
    }
    narrator.flush();
    return more;
  }

  private void line(Mail.Line line, Wires wires) throws InterruptedException {
    var said = parser.read(line.text());
    narrator.tell(line.text(), said);
    for (var one : said) {
      switch (one) {
        case Said.Asked asked -> {
          narrator.flush();
          answer(asked, approvals.decide(asked, narrator.call(asked.call()), caller), wires);
        }
        case Said.Demanded(_, var refusal) -> wires.tell(refusal);
        case Said.Ready(var next) -> wires.tell(next);
        // At the end, the program waits for the end of its input.
        case Said.Ended _ -> {
          resultNanos = System.nanoTime();
          wires.tell("");
        }
        default -> {} // The event writer has written the others.
      }
    }
  }

  private void answer(Said.Asked asked, Verdict verdict, Wires wires) {
    switch (verdict) {
      case Verdict.Allowed(var arguments) -> wires.tell(asked.reply().allow(arguments));
      case Verdict.Denied(var reason) -> {
        wires.tell(asked.reply().deny(reason));
        narrator.tell("", parser.denied(asked, reason));
      }
      case Verdict.Withdrawn _ -> {} // The program does not wait for an answer.
    }
  }

  /// Handles withdrawals at once; the main loop may wait for the answer of a person.
  private void overhear(String line) {
    dialect.withdraws(line).ifPresent(caller::withdraw);
  }

  /// Closes what the program left open.
  private void settle() {
    narrator.tell("", parser.end());
    narrator.cutOff();
  }

  /// Asks the program to stop, and writes its remaining output. A program that ignores the request
  /// is killed.
  ///
  /// A program that is to be resumed after a restart is not asked: it would close what is still
  /// open.
  private void stop(Wires wires) {
    try {
      var line = dialect.interrupt();
      var canceled =
          run.inspect(
              state ->
                  state
                      .openTask(run.origin().taskId())
                      .filter(OpenTask::cancelRequested)
                      .isPresent());
      if (line.isPresent() && canceled && !gone) {
        wires.tell(line.get());
        var end = System.nanoTime() + AFTER_INTERRUPT.toNanos();
        while (narrator.ended().isEmpty()) {
          var left = Duration.ofNanos(end - System.nanoTime());
          var batch = left.isNegative() ? List.<Mail>of() : wires.mailbox().take(left);
          if (batch.isEmpty() || batch.contains(new Mail.Silent())) {
            break;
          }
          for (var mail : batch) {
            if (mail instanceof Mail.Line(var text, _)) {
              narrator.tell(text, parser.read(text));
            }
          }
        }
      }
      narrator.tell("", parser.end());
      narrator.flush();
    } catch (InterruptedException again) {
      Thread.currentThread().interrupt();
    } catch (Rejection ended) {
      // The task's end has already been written.
    }
  }

  private Said.Failure endedEarly(int code, String errors) {
    var said = errors.isBlank() ? "" : ". Its last error output:\n" + errors;
    if (code == NOT_FOUND || code == STARTS_NOT) {
      return new Said.Failure(
          ErrorCode.INTERNAL,
          name()
              + " was not found or cannot be executed; install it, or set its path in `command`"
              + said,
          false);
    }
    var how = code < 0 ? "was stopped" : "ended with exit code " + code;
    return new Said.Failure(
        ErrorCode.MODEL_ERROR, name() + " " + how + " without a result" + said, true);
  }

  private String name() {
    return settings.command().getFirst();
  }
}
