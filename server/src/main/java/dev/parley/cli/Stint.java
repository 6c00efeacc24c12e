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

/// One run of a program, from its start to the end of all that it started. For one thread.
///
/// Whether it went well is what its last line says. The exit code says nothing: programs that were
/// interrupted end with 0, too.
final class Stint {

  /// How long a program may live on after its result, or may have its output open after its end.
  private static final Duration AFTER_RESULT = Duration.ofSeconds(5);

  private static final Duration AFTER_END = Duration.ofSeconds(2);

  /// How long a program that was asked to stop is listened to. With [dev.parley.tool.process.Child#GRACE] and the time that killing takes, a
  /// program that ignores everything is gone within 2 s.
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

  /// Runs the program. Nothing if it succeeded, else why not.
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
          // It has closed its output: it ends now by itself, or will be ended at once.
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
                    name() + " said nothing for " + settings.silence().toSeconds() + " s",
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

  /// False if there is no more to hear.
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
        // What it waits for at the end is the end of its input.
        case Said.Ended _ -> {
          resultNanos = System.nanoTime();
          wires.tell("");
        }
        default -> {} // The narrator has told the rest.
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
      case Verdict.Withdrawn _ -> {} // Nobody waits for it.
    }
  }

  /// Hears at once what else would wait until a person has answered.
  private void overhear(String line) {
    dialect.withdraws(line).ifPresent(caller::withdraw);
  }

  /// Ends what the program left open.
  private void settle() {
    narrator.tell("", parser.end());
    narrator.cutOff();
  }

  /// Asks the program to stop, and tells what it still says; what it does not heed is ended anyway.
  ///
  /// One that is to go on later, after a restart, is not asked: it would close what is still open.
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
      // Somebody has written the task's end already.
    }
  }

  private Said.Failure endedEarly(int code, String errors) {
    var said = errors.isBlank() ? "" : ". It said last:\n" + errors;
    if (code == NOT_FOUND || code == STARTS_NOT) {
      return new Said.Failure(
          ErrorCode.INTERNAL,
          name() + " is not there, or cannot be run; install it, or name it in `command`" + said,
          false);
    }
    var how = code < 0 ? "was stopped" : "ended with exit code " + code;
    return new Said.Failure(
        ErrorCode.MODEL_ERROR, name() + " " + how + " and without a result" + said, true);
  }

  private String name() {
    return settings.command().getFirst();
  }
}
