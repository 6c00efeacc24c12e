package dev.parley.supervisor;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import dev.parley.protocol.AgentTypeId;
import dev.parley.task.Strategy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Chooses agents without a model: by the names in the message, by the type of the task, by the
/// words of the descriptions, or else the fallback agent.
final class Rules {

  private static final Pattern DELEGATE =
      Pattern.compile(
          "(?:please\\s+)?delegate\\s+(.+)\\s+to\\s+([\\p{L}\\p{N}_.:,\\s-]+?)[.!?]?",
          Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
  private static final Pattern BETWEEN =
      Pattern.compile("\\s*,\\s*(?:and\\s+)?|\\s+and\\s+", Pattern.CASE_INSENSITIVE);
  private static final Pattern WORD = Pattern.compile("[\\p{L}\\p{N}]{4,}");
  private static final Set<String> COMMON =
      Set.of("this", "that", "with", "from", "what", "your", "have", "them", "they", "does");

  private final Map<AgentTypeId, Member> team;
  private final AgentTypeId standard;

  Rules(Map<AgentTypeId, Member> team, AgentTypeId standard) {
    this.team = team;
    this.standard = standard;
  }

  /// The decision; `fallback` is the reason why no model decided.
  Routing decide(Request request, @Nullable String fallback) {
    return delegated(request, fallback)
        .or(() -> several(request, fallback))
        .or(() -> byType(request, fallback))
        .or(() -> byWords(request, fallback))
        .orElseGet(
            () ->
                one(
                    member(standard),
                    request,
                    "nothing points to another agent, so the fallback agent acts",
                    0.3,
                    fallback));
  }

  /// The message, with the type and the strategy that it asks for.
  record Request(String text, @Nullable String taskType, @Nullable Strategy strategy) {}

  /// Matches `delegate X to A and B`.
  private Optional<Routing> delegated(Request request, @Nullable String fallback) {
    return match(request.text())
        .map(
            phrase -> {
              var members = named(phrase.group(2));
              if (members.isEmpty()) {
                return null;
              }
              var strategy =
                  request.strategy() != null
                      ? request.strategy()
                      : members.size() == 1 ? Strategy.DELEGATE : Strategy.PARALLEL;
              return routing(
                  strategy, members, phrase.group(1), "the message names the agents", 1, fallback);
            });
  }

  private static Optional<Matcher> match(String text) {
    var matcher = DELEGATE.matcher(text.strip());
    return matcher.matches() ? Optional.of(matcher) : Optional.empty();
  }

  private List<Member> named(String names) {
    var members = new ArrayList<Member>();
    for (var name : BETWEEN.split(names.strip())) {
      var member = find(name.strip());
      if (member.isEmpty()) {
        return List.of();
      }
      members.add(member.get());
    }
    return members;
  }

  private Optional<Member> find(String name) {
    var wanted = name.toLowerCase(Locale.ROOT).replaceFirst("^the\\s+", "");
    return team.values().stream()
        .filter(
            member -> {
              var id = member.id().value().toLowerCase(Locale.ROOT);
              return id.equals(wanted)
                  || id.equals("agent-" + wanted)
                  || member.name().toLowerCase(Locale.ROOT).equals(wanted);
            })
        .findFirst();
  }

  /// For a strategy that needs several agents, when the message names none: all whose descriptions
  /// match, or else the whole team.
  private Optional<Routing> several(Request request, @Nullable String fallback) {
    if (request.strategy() != Strategy.PARALLEL && request.strategy() != Strategy.SEQUENTIAL) {
      return Optional.empty();
    }
    var fitting = scored(request.text());
    var members = fitting.size() > 1 ? fitting : new ArrayList<>(team.values());
    return Optional.of(
        routing(
            request.strategy(),
            members,
            request.text(),
            "the message asks for several agents",
            0.6,
            fallback));
  }

  private Optional<Routing> byType(Request request, @Nullable String fallback) {
    var type = request.taskType();
    return type == null
        ? Optional.empty()
        : team.values().stream()
            .filter(member -> member.taskTypes().contains(type))
            .findFirst()
            .map(member -> one(member, request, "it takes tasks of type " + type, 0.9, fallback));
  }

  private Optional<Routing> byWords(Request request, @Nullable String fallback) {
    return scored(request.text()).stream()
        .findFirst()
        .map(member -> one(member, request, "its description fits best", 0.5, fallback));
  }

  /// The agents whose descriptions share words with the text, the best match first.
  private List<Member> scored(String text) {
    var wanted = words(text);
    return team.values().stream()
        .filter(member -> score(member, wanted) > 0)
        .sorted(Comparator.comparingInt((Member member) -> score(member, wanted)).reversed())
        .toList();
  }

  private static int score(Member member, Collection<String> wanted) {
    var known = words(member.name() + " " + member.description());
    return (int) wanted.stream().filter(known::contains).count();
  }

  private static Set<String> words(String text) {
    var words = new HashSet<String>();
    for (var matcher = WORD.matcher(text.toLowerCase(Locale.ROOT)); matcher.find(); ) {
      if (!COMMON.contains(matcher.group())) {
        words.add(matcher.group());
      }
    }
    return words;
  }

  private Member member(AgentTypeId id) {
    var member = team.get(id);
    return member == null ? team.values().iterator().next() : member;
  }

  private static Routing one(
      Member member,
      Request request,
      String reasoning,
      double confidence,
      @Nullable String fallback) {
    var strategy = request.strategy() == Strategy.DELEGATE ? Strategy.DELEGATE : Strategy.SINGLE;
    return routing(strategy, List.of(member), request.text(), reasoning, confidence, fallback);
  }

  private static Routing routing(
      Strategy strategy,
      List<Member> members,
      String task,
      String reasoning,
      double confidence,
      @Nullable String fallback) {
    var choices = new ArrayList<Routing.Choice>();
    for (var member : members) {
      choices.add(new Routing.Choice(member.id(), member.name(), task, choices.size() + 1));
    }
    return new Routing(strategy, choices, reasoning, confidence, fallback).with(strategy);
  }
}
