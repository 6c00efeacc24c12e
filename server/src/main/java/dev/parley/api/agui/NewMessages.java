package dev.parley.api.agui;

import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.MessageView;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// The new messages in a request. A client sends all its messages with every run.
///
/// @param before earlier messages of the user that the thread does not have
/// @param next the new message of the user, if any
/// @param rewind the first message of the thread that the client no longer has
/// @param repeated whether `next` is not new, but its answer is requested again
record NewMessages(
    List<RunInput.InputMessage> before,
    RunInput.@Nullable InputMessage next,
    @Nullable MessageId rewind,
    boolean repeated) {

  private static final NewMessages NONE = new NewMessages(List.of(), null, null, false);

  /// The same for a thread that waits for an answer: a missing answer is not a request to repeat.
  NewMessages whileWaiting() {
    return repeated ? NONE : this;
  }

  /// Compares the client's messages with the latest messages of the thread, oldest first.
  ///
  /// Messages that the client cannot know do not count as removed: those of other APIs, for which
  /// `here` is false, and those that steered a running task.
  static NewMessages compare(
      List<RunInput.InputMessage> messages, List<MessageView> thread, Predicate<MessageView> here) {
    var theirs = messages.stream().filter(message -> message.hasRole("user")).toList();
    if (theirs.isEmpty()) {
      return NONE;
    }
    var people = thread.stream().filter(message -> message.role() == Role.USER).toList();
    var ours =
        people.stream()
            .filter(
                message -> index(theirs, message) >= 0 || (!steers(message) && here.test(message)))
            .toList();
    var known = first(ours, theirs);
    if (known < 0) {
      // A client that has no message of the thread continues it. If the thread is new, the client's
      // earlier messages are stored.
      var past =
          people.isEmpty()
              ? messages.subList(0, messages.indexOf(theirs.getLast()))
              : NONE.before();
      return userSpeaksLast(messages) ? new NewMessages(past, theirs.getLast(), null, false) : NONE;
    }
    var start = index(theirs, ours.get(known));
    var same = 0;
    while (known + same < ours.size()
        && start + same < theirs.size()
        && same(ours.get(known + same), theirs.get(start + same))) {
      same++;
    }
    var rest = theirs.subList(start + same, theirs.size());
    if (!userSpeaksLast(messages)) {
      return NONE;
    }
    if (rest.isEmpty()) {
      // The client removed the answer, so the message is repeated.
      return new NewMessages(
          List.of(), theirs.getLast(), new MessageId(theirs.getLast().id()), true);
    }
    return new NewMessages(
        rest.subList(0, rest.size() - 1),
        rest.getLast(),
        known + same < ours.size() ? ours.get(known + same).messageId() : null,
        false);
  }

  private static boolean steers(MessageView message) {
    return message.facts().steers();
  }

  /// True if the last message is the user's.
  private static boolean userSpeaksLast(List<RunInput.InputMessage> messages) {
    return messages.stream()
        .filter(message -> !message.hasRole("system") && !message.hasRole("developer"))
        .reduce((_, last) -> last)
        .filter(message -> message.hasRole("user"))
        .isPresent();
  }

  private static int first(List<MessageView> ours, List<RunInput.InputMessage> theirs) {
    for (var i = 0; i < ours.size(); i++) {
      if (index(theirs, ours.get(i)) >= 0) {
        return i;
      }
    }
    return -1;
  }

  private static int index(List<RunInput.InputMessage> theirs, MessageView message) {
    for (var i = 0; i < theirs.size(); i++) {
      if (theirs.get(i).id().equals(message.messageId().value())) {
        return i;
      }
    }
    return -1;
  }

  private static boolean same(MessageView ours, RunInput.InputMessage theirs) {
    return ours.messageId().value().equals(theirs.id()) && ours.content().equals(theirs.text());
  }
}
