package dev.parley.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/// An answer of [FakeModelServer]: a status, steps, the way it ends, and how its bytes are sent.
public record FakeModelAnswer(
    int status, List<String> headers, List<Step> steps, Ending ending, Delivery delivery) {

  public FakeModelAnswer {
    headers = List.copyOf(headers);
    steps = List.copyOf(steps);
  }

  /// A step of an answer.
  public sealed interface Step {

    /// Sends text, piece by piece.
    record Text(List<String> pieces) implements Step {}

    /// Sends thinking; the client must return `signature`.
    record Thinking(List<String> pieces, String signature) implements Step {}

    /// Sends redacted thinking.
    record Redacted(String data) implements Step {}

    /// Calls a tool; the JSON of the arguments is sent in pieces.
    record Call(String id, String name, List<String> json) implements Step {}

    /// Reports the usage.
    record Used(long input, long output, long cacheWrite, long cacheRead) implements Step {}

    /// Sets the stop reason, as this API names it. Without this step it is the default one.
    record Stop(String reason) implements Step {}

    /// Sends an error event, in the form of this API.
    record Fail(String type, String message) implements Step {}

    /// Sends other bytes.
    record Raw(String text) implements Step {}

    /// Waits until the latch is open.
    record Wait(CountDownLatch gate) implements Step {}
  }

  /// How an answer ends.
  public enum Ending {
    /// Normally.
    COMPLETE,
    /// After the steps, without a final event, but with a normal end of the connection.
    CUT,
    /// After the steps, with a reset of the connection.
    RESET,
    /// Never, until the client disconnects.
    HOLD
  }

  /// How bytes are sent: this many at a time, or whole events if 0, and with this line separator.
  public record Delivery(int bytes, String newline) {
    static final Delivery USUAL = new Delivery(0, "\n");
  }

  /// Returns an answer with these steps.
  public static FakeModelAnswer of(Step... steps) {
    return new FakeModelAnswer(
        200, List.of(), Arrays.asList(steps), Ending.COMPLETE, Delivery.USUAL);
  }

  /// Returns an answer with only text.
  public static FakeModelAnswer saying(String... pieces) {
    return of(text(pieces), new Step.Used(10, 5, 0, 0));
  }

  /// Returns an answer with one tool call.
  public static FakeModelAnswer calling(String id, String name, String json) {
    return of(call(id, name, json), new Step.Used(10, 5, 0, 0));
  }

  /// Returns an error response; the body is sent unchanged.
  public static FakeModelAnswer refusing(int status, String body, String... headers) {
    return new FakeModelAnswer(
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

  /// Returns this answer with more steps.
  public FakeModelAnswer then(Step... more) {
    var all = new ArrayList<>(steps);
    all.addAll(Arrays.asList(more));
    return new FakeModelAnswer(status, headers, all, ending, delivery);
  }

  /// Returns this answer with another end.
  public FakeModelAnswer ending(Ending other) {
    return new FakeModelAnswer(status, headers, steps, other, delivery);
  }

  /// Returns this answer with its bytes split.
  public FakeModelAnswer chopped(int bytes, String newline) {
    return new FakeModelAnswer(status, headers, steps, ending, new Delivery(bytes, newline));
  }

  /// Returns this answer with these headers: `Name: value`.
  public FakeModelAnswer with(String... more) {
    return new FakeModelAnswer(status, Arrays.asList(more), steps, ending, delivery);
  }
}
