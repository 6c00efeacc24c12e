package dev.parley.tool;

import dev.parley.protocol.Json;
import java.time.DateTimeException;
import java.time.InstantSource;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/// `clock`: returns the current time.
public final class ClockTool implements TypedTool<ClockTool.Arguments> {

  private final InstantSource time;

  public ClockTool(InstantSource time) {
    this.time = time;
  }

  /// The time zone.
  public record Arguments(@Nullable String zone) {}

  @Override
  public String name() {
    return "clock";
  }

  @Override
  public String description() {
    return "Returns the date and time as {time, zone}, in UTC or in zone, such as Europe/Berlin.";
  }

  @Override
  public Class<Arguments> arguments() {
    return Arguments.class;
  }

  @Override
  public Effect effect() {
    return Effect.PURE;
  }

  @Override
  public boolean concurrent() {
    return true;
  }

  @Override
  public ToolResult call(Arguments arguments, ToolContext context) {
    try {
      var zone = arguments.zone() == null ? ZoneOffset.UTC : ZoneId.of(arguments.zone());
      var now = time.instant().truncatedTo(ChronoUnit.SECONDS).atZone(zone);
      return new ToolResult.Done(
          Json.object()
              .put("time", DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(now))
              .put("zone", arguments.zone() == null ? "UTC" : zone.getId()));
    } catch (DateTimeException unknown) {
      return new ToolResult.Failed("no such time zone: " + arguments.zone());
    }
  }
}
