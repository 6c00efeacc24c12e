package dev.parley.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/// What a [StandInModel] answers: a status, steps, how it ends, and how its bytes are delivered.
public record StandInAnswer(
    int status, List<String> headers, List<Step> steps, Ending ending, Delivery delivery) {

  public StandInAnswer {
    headers = List.copyOf(headers);
    steps = List.copyOf(steps);
  }

  /// Something that the model does.
  public sealed interface Step {

    /// It says something, a piece at a time.
    record Text(List<String> pieces) implements Step {}

    /// It thinks; `signature` is what it wants back.
    record Thinking(List<String> pieces, String signature) implements Step {}

    /// It thinks what nobody may read.
    record Redacted(String data) implements Step {}

    /// It calls a tool; the JSON of the arguments comes in pieces.
    record Call(String id, String name, List<String> json) implements Step {}

    /// It says how much it used.
    record Used(long input, long output, long cacheWrite, long cacheRead) implements Step {}

    /// Why it stops, in the words of the wire; else it is what goes without saying.
    record Stop(String reason) implements Step {}

    /// It tells of an error, in the words of the wire.
    record Fail(String type, String message) implements Step {}

    /// Bytes that are none of the above.
    record Raw(String text) implements Step {}

    /// It does nothing until this is open.
    record Wait(CountDownLatch gate) implements Step {}
  }

  /// How an answer ends.
  public enum Ending {
    /// As it should.
    COMPLETE,
    /// After the steps, without the rest, as if all were well.
    CUT,
    /// After the steps, with a broken connection.
    RESET,
    /// Not at all, until the client hangs up.
    HOLD
  }

  /// How bytes are sent: so many at a time, or all of an event if 0, and with these ends of lines.
  public record Delivery(int bytes, String newline) {
    static final Delivery USUAL = new Delivery(0, "\n");
  }

  /// An answer with these steps.
  public static StandInAnswer of(Step... steps) {
    return new StandInAnswer(200, List.of(), Arrays.asList(steps), Ending.COMPLETE, Delivery.USUAL);
  }

  /// An answer that is only text.
  public static StandInAnswer saying(String... pieces) {
    return of(text(pieces), new Step.Used(10, 5, 0, 0));
  }

  /// An answer that is one call of a tool.
  public static StandInAnswer calling(String id, String name, String json) {
    return of(call(id, name, json), new Step.Used(10, 5, 0, 0));
  }

  /// An answer that is refused; the body is sent as it is.
  public static StandInAnswer refusing(int status, String body, String... headers) {
    return new StandInAnswer(
        status,
        Arrays.asList(headers),
        List.of(new Step.Raw(body)),
        Ending.COMPLETE,
        Delivery.USUAL);
  }

  public static Step text(String... pieces) {
    return new Step.Text(List.of(pieces));
  }

  public static Step thinking(String signature, String... pieces) {
    return new Step.Thinking(List.of(pieces), signature);
  }

  public static Step call(String id, String name, String... json) {
    return new Step.Call(id, name, List.of(json));
  }

  /// The same, with more at the end of it.
  public StandInAnswer then(Step... more) {
    var all = new ArrayList<>(steps);
    all.addAll(Arrays.asList(more));
    return new StandInAnswer(status, headers, all, ending, delivery);
  }

  /// The same, but ending so.
  public StandInAnswer ending(Ending other) {
    return new StandInAnswer(status, headers, steps, other, delivery);
  }

  /// The same, with its bytes cut so.
  public StandInAnswer chopped(int bytes, String newline) {
    return new StandInAnswer(status, headers, steps, ending, new Delivery(bytes, newline));
  }

  /// The same, with these headers: `Name: value`.
  public StandInAnswer with(String... more) {
    return new StandInAnswer(status, Arrays.asList(more), steps, ending, delivery);
  }
}
