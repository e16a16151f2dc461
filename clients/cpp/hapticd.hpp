/* hapticd.hpp: client of hapticd, the haptic device service, for C++17 on Linux. One header.
 *
 *     hapticd::StopOnSignals stop;                       // Ctrl-C ends the loop, not the process
 *     auto service = hapticd::connect();                 // leaving the scope, however, means zero force
 *     auto& arm = service.arm();
 *     for (auto turn : service.loop(1000)) {             // paces, never queues late turns
 *         const double depth = 0.12 - arm.position()[2];
 *         arm.set_force({0, 0, std::max(0.0, 500 * depth)});
 *     }
 *     std::cout << service.loop_statistics() << '\n';
 *
 * `connect("local:STATE_DIR")` is the same over memory that the service shares with programs on its machine, if hapticd_local.h is on the
 * include path. docs/clients.md of hapticd says what a program relies on, docs/wire.md and docs/local.md what goes over the wire.
 *
 * Sections: values and errors; what a device shows; a device; pacing; the session; the socket; the WebSocket; shared memory; the service.
 * A program needs the names outside of namespace `detail` only. One thread uses a service object and its devices.
 */
#ifndef HAPTICD_HPP
#define HAPTICD_HPP

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <nlohmann/json.hpp>

#if __has_include("hapticd_local.h")
#include "hapticd_local.h"
#define HAPTICD_HAS_LOCAL 1
#else
#define HAPTICD_HAS_LOCAL 0
#endif

namespace hapticd {

// ================================================================ values and errors

using Json = nlohmann::json;
using Vector = std::array<double, 3>;      // x, y, z, or joints a0, a1, a2
using Quaternion = std::array<double, 4>;  // w, x, y, z

inline constexpr const char* version = "3.5.3.1";         // of this client
inline constexpr std::array<int, 2> interface_version{3, 5};  // of the services that it speaks to

/// Base class of every error of this client: one sentence that says what happened and what to do; none leaves a force in effect.
struct HapticsError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// No service answers at the address, or something else does.
struct NoService : HapticsError {
    using HapticsError::HapticsError;
};

/// What was given as an address of a service is none.
struct InvalidAddress : HapticsError {
    using HapticsError::HapticsError;
};

/// The service refuses a handshake or a request.
struct Refused : HapticsError {
    explicit Refused(const std::string& sentence, int http_status = 0) : HapticsError(sentence), status(http_status) {}
    int status;  // of the HTTP answer, 0 where there is none
};

/// Another running service answers than the one that was expected.
struct WrongInstance : HapticsError {
    using HapticsError::HapticsError;
};

/// The service speaks a version of the interface that this client does not know.
struct WrongVersion : HapticsError {
    using HapticsError::HapticsError;
};

/// The connection has ended; the service releases every force of its session by itself.
struct ServiceLost : HapticsError {
    explicit ServiceLost(const std::string& sentence, int close_code = 0) : HapticsError(sentence), code(close_code) {}
    int code;  // WebSocket close code, 0 where none came
};

/// The service has not answered in time; the connection is closed.
struct ServiceSilent : ServiceLost {
    using ServiceLost::ServiceLost;
};

/// What the service sent is no frame of this interface; the connection is closed.
struct ProtocolBroken : ServiceLost {
    using ServiceLost::ServiceLost;
};

/// The service object was closed, or belongs to the process that forked this one.
struct SessionClosed : HapticsError {
    using HapticsError::HapticsError;
};

/// One entry of a frame's `errors`.
struct Fault {
    std::string path;    // of what was sent, such as arm[0].commands.set_cursor_force.vector.x; "" for the whole message
    std::string reason;  // a sentence that says what to send instead
};

/// The service refused parts of a message; every command of that message has been released.
struct FrameErrors : HapticsError {
    explicit FrameErrors(std::vector<Fault> found) : HapticsError(sentence_of(found)), faults(std::move(found)) {}
    std::vector<Fault> faults;  // at least one

private:
    static std::string sentence_of(const std::vector<Fault>& faults) {
        std::string text;
        for (const auto& fault : faults) text += (text.empty() ? "" : "; ") + (fault.path.empty() ? "" : fault.path + ": ") + fault.reason;
        return text;
    }
};

/// There is no device of this id or kind, or several where one was meant.
struct NoSuchDevice : HapticsError {
    using HapticsError::HapticsError;
};

/// The device was unplugged; its forces are zero, and stay so after it has come back until `resume`.
struct DeviceGone : HapticsError {
    using HapticsError::HapticsError;
};

/// A set-point, configuration or option cannot be sent: not finite, out of range, no text.
struct InvalidCommand : HapticsError {
    using HapticsError::HapticsError;
};

/// Turns were missed as often in a row as `stop_after_misses` allows; forces are zero.
struct LoopTooSlow : HapticsError {
    using HapticsError::HapticsError;
};

/// A turn began too late, and `on_late` is OnLate::raise; forces are zero.
struct LateTurn : HapticsError {
    using HapticsError::HapticsError;
};

/// This transport or build has no such feature.
struct NotSupported : HapticsError {
    using HapticsError::HapticsError;
};

namespace detail {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr std::array<const char*, 3> xyz{"x", "y", "z"};
inline constexpr std::array<const char*, 3> joints{"a0", "a1", "a2"};
inline constexpr std::array<const char*, 4> wxyz{"w", "x", "y", "z"};

/// Return a number as one writes it: 0.05, 1000, nan.
inline std::string shown(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", number);
    return text;
}

/// Return the vector, shortened to the length `most` where it is longer.
inline Vector limited(const Vector& vector, double most) {
    const double length = std::sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
    if (length <= most) return vector;
    const double scale = most / length;
    return {vector[0] * scale, vector[1] * scale, vector[2] * scale};
}

/// Raise InvalidCommand for a body that JSON cannot carry: a number that is not finite, a text that is no UTF-8.
inline void check_json(const std::string& what, const Json& body) {
    if (body.is_number_float() && !std::isfinite(body.get<double>()))
        throw InvalidCommand(what + " has finite numbers only, and one of these is " + shown(body.get<double>()));
    if (body.is_structured())
        for (const auto& part : body) check_json(what, part);
    try {
        if (body.is_string()) (void)body.dump();
    } catch (const Json::exception&) {
        throw InvalidCommand(what + " has a text that is no UTF-8: write it in UTF-8");
    }
}

/// Seconds of the monotonic clock, which is what turns are paced by.
inline double now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Set by the handler of StopOnSignals: a signal handler can reach nothing else.
inline volatile std::sig_atomic_t stop_signal = 0;

/// Sleep until a time of `now`; a signal that shall stop ends it.
inline void sleep_until(double due) {
    timespec time{};
    time.tv_sec = static_cast<time_t>(due);
    time.tv_nsec = std::min(999999999L, static_cast<long>((due - static_cast<double>(time.tv_sec)) * 1e9));
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR && !stop_signal) {
    }
}

class Session;
class WireLink;
class LocalLink;

}  // namespace detail

// ================================================================ what a device shows

/// One device at one moment; copy it to keep it. A number that is not known is NaN.
struct State {
    Vector position{detail::nan, detail::nan, detail::nan};          // cursor, m; application space, over shared memory device frame
    Vector velocity{detail::nan, detail::nan, detail::nan};          // of the cursor, m/s
    Vector force{detail::nan, detail::nan, detail::nan};             // that the service's loop applied at the cursor, N
    Vector angles{detail::nan, detail::nan, detail::nan};            // of the joints, degrees
    Vector angular_velocity{detail::nan, detail::nan, detail::nan};  // of the joints, degrees/s
    Vector torques{detail::nan, detail::nan, detail::nan};           // that the loop applied, N.mm
    Quaternion orientation{detail::nan, detail::nan, detail::nan, detail::nan};  // of the body, grip or pen
    std::string mode = "idle";            // idle, force or position: of the device, whoever commands it
    double hall = 0;                      // raw reading of a grip's or pen's hall sensor
    std::map<std::string, bool> buttons;  // of a grip or pen, by name
    bool ready = false;                   // it has settled and takes commands
    bool calibrated = false;              // of an arm or compact
    bool attached = false;                // whether a grip or pen is attached to its arm
    Json raw = Json::object();            // `state` of the frame; empty over shared memory
    Json status = Json::object();         // `status` of the frame; empty over shared memory
};

namespace detail {

template <std::size_t N>
std::array<double, N> numbers(const Json& state, const char* name, const std::array<const char*, N>& labels) {
    std::array<double, N> made{};
    made.fill(nan);
    const auto found = state.find(name);
    if (found == state.end() || found->is_null()) return made;
    for (std::size_t i = 0; i < N; i++)
        if (const auto part = found->find(labels[i]); part != found->end() && !part->is_null()) made[i] = part->template get<double>();
    return made;
}

/// Return the state in a device's entry of a frame, which is emptied; Json::exception for what is none.
inline State state_of(Json& entry) {
    State made;
    made.raw = std::move(entry.at("state"));
    made.status = std::move(entry.at("status"));
    made.position = numbers(made.raw, "cursor_position", xyz);
    made.velocity = numbers(made.raw, "cursor_velocity", xyz);
    made.force = numbers(made.raw, "current_cursor_force", xyz);
    made.angles = numbers(made.raw, "angular_position", joints);
    made.angular_velocity = numbers(made.raw, "angular_velocity", joints);
    made.torques = numbers(made.raw, "current_angular_torques", joints);
    made.orientation = numbers(made.raw, made.raw.contains("orientation") ? "orientation" : "body_orientation", wxyz);
    made.mode = made.raw.value("control_mode", made.mode);
    if (const auto hall = made.raw.find("hall"); hall != made.raw.end() && !hall->is_null()) made.hall = hall->get<double>();
    if (const auto buttons = made.raw.find("buttons"); buttons != made.raw.end()) buttons->get_to(made.buttons);
    made.ready = made.status.value("ready", false);
    made.calibrated = made.status.value("calibrated", false);
    made.attached = made.status.value("attached", false);
    return made;
}

/// What a set-point is on the wire, in the order of the bits of a record in shared memory.
struct PointRow {
    const char* command;
    const char* field;
    const std::array<const char*, 3>& labels;
};
enum Point : std::size_t { force, position, torques, angles, points };
inline constexpr std::array<PointRow, points> point_rows{{{"set_cursor_force", "vector", xyz},
                                                          {"set_cursor_position", "position", xyz},
                                                          {"set_angular_torques", "torques", joints},
                                                          {"set_angular_position", "angles", joints}}};
using Points = std::array<std::optional<Vector>, points>;

}  // namespace detail

// ================================================================ a device

/// One device. **A set-point holds for the turn in which it was assigned**: a turn that assigns none releases it.
class Device {
public:
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    /// arm, compact, grip, pen, or the word of a module's kind.
    const std::string& kind() const { return kind_; }
    const std::string& id() const { return id_; }
    /// Whether the device was in the newest frame.
    bool present() const { return state_.has_value(); }
    /// Whether forces are held back, because the device had gone, until `resume`.
    bool withheld() const { return withheld_; }
    /// Whether the device is there, has settled and takes commands.
    bool ready() const { return state_ && state_->ready; }
    /// `config` of the last full frame, as docs/wire.md describes it; empty over shared memory.
    const Json& config() const { return config_; }
    /// Let what is assigned from now on act again, after the device had gone.
    void resume() { withheld_ = false; }

    // ------------------------------------------------ reading: of this turn; each raises DeviceGone

    const State& state() const {
        if (!state_) throw DeviceGone(kind_ + " " + id_ + " is unplugged: plug it in, wait for present(), and call resume() to push again");
        return *state_;
    }
    /// Cursor, m.
    const Vector& position() const { return state().position; }
    /// Velocity of the cursor, m/s.
    const Vector& velocity() const { return state().velocity; }
    /// Force that the service's loop applied, N.
    const Vector& force() const { return state().force; }
    /// Joint angles, degrees.
    const Vector& angles() const { return state().angles; }
    /// Joint velocities, degrees/s.
    const Vector& angular_velocity() const { return state().angular_velocity; }
    /// Torques that the service's loop applied, N.mm.
    const Vector& torques() const { return state().torques; }
    /// Unit quaternion w, x, y, z.
    const Quaternion& orientation() const { return state().orientation; }
    /// `idle`, `force` or `position`: of the device, whoever commands it.
    const std::string& mode() const { return state().mode; }
    /// Raw reading of the hall sensor of a grip or pen.
    double hall() const { return state().hall; }
    /// Buttons of a grip or pen by name.
    const std::map<std::string, bool>& buttons() const { return state().buttons; }
    /// Whether any button is pressed.
    bool button() const {
        const auto& all = buttons();
        return std::any_of(all.begin(), all.end(), [](const auto& one) { return one.second; });
    }
    /// Whether a grip or pen is attached to its arm.
    bool attached() const { return state().attached; }

    // ------------------------------------------------ set-points of this turn; InvalidCommand for what is not finite

    /// Force at the cursor, N.
    void set_force(const Vector& newton) { assign(detail::force, newton, "a force", "N"); }
    /// Position that the service's loop holds, m.
    void set_target_position(const Vector& metre) { assign(detail::position, metre, "a target position", "m"); }
    /// Torques of the joints, N.mm.
    void set_torques(const Vector& newton_millimetre) { assign(detail::torques, newton_millimetre, "torques", "N.mm"); }
    /// Joint angles that the service's loop holds, degrees.
    void set_target_angles(const Vector& degrees) { assign(detail::angles, degrees, "target angles", "degrees"); }
    /// Command of a module, such as `set_contact`.
    void set_command(const std::string& name, Json body) {
        detail::check_json(name, body);
        others_[name] = std::move(body);
    }

    // ------------------------------------------------ configuration: sent with the next turn or `update`, holds for the session

    /// Configure as docs/wire.md says: mount, preset, basis, damping, force_gate, navigation, or a module's name; `workspace` is the workspace
    /// transform. A number is enough for damping (N.s/m) and force_gate (gain). The service judges it: FrameErrors. InvalidCommand for
    /// what JSON cannot carry.
    void configure(const std::string& key, Json body) {
        detail::check_json(key, body);
        if (body.is_number() && key == "damping") body = {{"scalar", body}};
        if (body.is_number() && key == "force_gate") body = {{"gain", body}};
        configuration_[key] = std::move(body);
    }

private:
    friend class detail::Session;
    friend class detail::WireLink;
    friend class detail::LocalLink;

    Device(std::string kind, std::string id) : kind_(std::move(kind)), id_(std::move(id)) {}

    void assign(detail::Point point, const Vector& value, const char* what, const char* unit) {
        if (!std::isfinite(value[0]) || !std::isfinite(value[1]) || !std::isfinite(value[2]))
            throw InvalidCommand(std::string(what) + " is three finite numbers (" + unit + "), and this is (" + detail::shown(value[0]) + ", " +
                                 detail::shown(value[1]) + ", " + detail::shown(value[2]) + ")");
        points_[point] = value;
    }

    /// Take the newest state.
    void show(State state) { state_ = std::move(state); }

    /// Handle that it is not there any more: its forces are held back when it has come back.
    void leave() {
        if (!state_) return;
        state_.reset();
        withheld_ = true;
        drop();
    }

    /// Forget the set-points and commands of this turn.
    void drop() {
        points_ = {};
        others_.clear();
    }

    /// Whether this turn has set-points or commands that may act; DeviceGone for those of a device that has gone.
    bool commanded(std::optional<double> most_force) {
        if (others_.empty() && std::none_of(points_.begin(), points_.end(), [](const auto& point) { return point.has_value(); })) return false;
        if (!state_ || withheld_) drop();
        (void)state();
        if (withheld_) return false;
        if (auto& wanted = points_[detail::force]; wanted && most_force) wanted = detail::limited(*wanted, *most_force);
        return true;
    }

    std::string kind_, id_;
    std::optional<State> state_;  // none while it is unplugged
    Json config_ = Json::object();
    bool described_ = false;  // a full frame has shown it
    bool withheld_ = false;
    detail::Points points_;
    std::map<std::string, Json> others_;         // commands of modules
    std::map<std::string, Json> configuration_;  // not sent yet
};

// ================================================================ pacing

/// What a loop does with a turn that begins more than half a period after it was due.
enum class OnLate { skip, raise };

/// Options of a loop.
struct LoopOptions {
    std::optional<double> budget = {};          // s that a body may take, none: one period; a longer body is a miss
    OnLate on_late = OnLate::skip;              // skip: leave out the turns that were due meanwhile; raise: LateTurn
    std::optional<double> max_force = {};       // N; longer forces are shortened, keeping their direction
    std::optional<int> stop_after_misses = {};  // so many misses in a row raise LoopTooSlow
    std::optional<double> seconds = {};         // end after that time, none: with the scope
};

/// One turn of a loop. The attribute lets a program not look at it.
struct [[maybe_unused]] Turn {
    std::int64_t number;   // 0 for the first
    double time;           // s since the loop began, when the turn began
    double dt;             // s since the turn before began; one period for the first
    double late;           // s after it was due
    std::int64_t skipped;  // turns that were due before this one and were left out
};

/// Figures of a loop; the round trips are the newest 65,536.
struct LoopStatistics {
    double wanted_rate = detail::nan;  // turns/s
    double rate = 0;                   // turns/s, measured over the whole loop
    std::int64_t turns = 0;
    std::int64_t late = 0;      // turns that began more than half a period after they were due
    std::int64_t missed = 0;    // turns that were left out, and bodies that took longer than the budget
    double round_trip_p50 = 0;  // s
    double round_trip_p99 = 0;  // s
    double longest_gap = 0;     // s between the beginnings of two turns

    /// Share of the turns due that began in time, 0 to 1.
    double on_time() const {
        const auto due = turns + missed;
        return due ? std::max(0.0, 1 - static_cast<double>(late + missed) / static_cast<double>(due)) : 1.0;
    }
};

/// Write the figures as one line.
inline std::ostream& operator<<(std::ostream& out, const LoopStatistics& figures) {
    char text[320];
    std::snprintf(text, sizeof text,
                  "%.1f of %g turns/s, %.2f %% on time (%lld late, %lld missed of %lld), round trip p50 %.0f us, p99 %.0f us, longest gap %.2f ms",
                  figures.rate, figures.wanted_rate, 100 * figures.on_time(), static_cast<long long>(figures.late),
                  static_cast<long long>(figures.missed), static_cast<long long>(figures.turns + figures.missed), 1e6 * figures.round_trip_p50,
                  1e6 * figures.round_trip_p99, 1e3 * figures.longest_gap);
    return out << text;
}

namespace detail {

/// Turns at a fixed rate; the clock is the caller's. A turn that is late is not made up for: the next one due in the future follows.
class Pacer {
public:
    /// `timeout`: s after which set-points are stale. InvalidCommand.
    Pacer(double rate, const LoopOptions& options, double timeout) : rate_(rate), options_(options), timeout_(timeout) {
        if (!(std::isfinite(rate) && rate > 0)) throw InvalidCommand("a rate is above 0 turns/s, and this is " + shown(rate));
        if (options.budget && !(*options.budget > 0)) throw InvalidCommand("a budget is above 0 s, and this is " + shown(*options.budget));
        if (options.max_force && !(std::isfinite(*options.max_force) && *options.max_force >= 0))
            throw InvalidCommand("max_force is 0 N or more, and this is " + shown(*options.max_force));
        if (options.stop_after_misses && *options.stop_after_misses < 1)
            throw InvalidCommand("stop_after_misses is 1 or more, and this is " + std::to_string(*options.stop_after_misses));
        if (options.seconds && !(*options.seconds >= 0)) throw InvalidCommand("seconds is 0 s or more, and this is " + shown(*options.seconds));
        period_ = 1 / rate;
    }

    const LoopOptions& options() const { return options_; }

    /// Whether a time-out has fewer than three turns: one late turn lets forces fade.
    bool is_too_slow() const { return rate_ * timeout_ < turns_per_timeout; }

    /// Return the time at which the next turn is due; the first call begins the loop.
    double due(double now) {
        if (std::isnan(begun_)) begun_ = now;
        return begun_ + static_cast<double>(slot_) * period_;
    }

    /// Begin a turn. LateTurn and LoopTooSlow as the options say.
    Turn begin(double now) {
        const double late = std::max(0.0, now - due(now));
        const auto skipped = static_cast<std::int64_t>(late / period_);
        slot_ += skipped + 1;
        const bool first = std::isnan(last_);
        const double dt = first ? period_ : now - last_;
        gap_ = std::max(gap_, first ? 0.0 : dt);
        last_ = body_ = now;
        missed_ += skipped;
        const bool is_late = late > late_share * period_;
        late_ += is_late && !skipped;
        count(skipped || overrun_);
        overrun_ = false;
        const Turn turn{turns_++, now - begun_, dt, late, skipped};
        if (options_.on_late == OnLate::raise && is_late && turn.number > 0)
            throw LateTurn("turn " + std::to_string(turn.number) + " began " + shown(1e3 * late) +
                           " ms late: forces are zero; lower the rate of " + shown(rate_));
        return turn;
    }

    /// Count a round trip, and start the time of the body.
    void answered(double began, double now) {
        if (trips_.size() < kept) trips_.push_back(now - began);
        else trips_[static_cast<std::size_t>(turns_) % kept] = now - began;
        body_ = now;
    }

    /// End the body of a turn; return whether its set-points are still worth sending.
    bool end(double now) {
        const double took = now - body_;
        overrun_ = took > options_.budget.value_or(period_);
        missed_ += overrun_ && took <= period_;
        return took <= timeout_;
    }

    LoopStatistics statistics() const {
        auto trips = trips_;
        std::sort(trips.begin(), trips.end());
        const auto trip = [&trips](double share) {
            const auto place = static_cast<std::size_t>(share * static_cast<double>(trips.size()));
            return trips.empty() ? 0.0 : trips[std::min(trips.size() - 1, place)];
        };
        const double span = last_ - begun_;
        const double rate = turns_ > 1 && span > 0 ? static_cast<double>(turns_ - 1) / span : 0.0;
        return {rate_, rate, turns_, late_, missed_, trip(0.5), trip(0.99), gap_};
    }

private:
    static constexpr double late_share = 0.5;       // of a period, from which on a turn counts as late
    static constexpr std::size_t kept = 65536;      // newest round trips that quantiles are taken of
    static constexpr double turns_per_timeout = 3;

    void count(bool missed) {
        misses_ = missed ? misses_ + 1 : 0;
        if (options_.stop_after_misses && misses_ >= *options_.stop_after_misses)
            throw LoopTooSlow(std::to_string(misses_) + " turns in a row were missed at " + shown(rate_) +
                              " turns/s: forces are zero; make the body of the loop shorter, or lower the rate");
    }

    double rate_, period_ = 0;
    LoopOptions options_;
    double timeout_;
    double begun_ = nan, last_ = nan, body_ = nan;  // when the loop, the newest turn and its body began
    std::int64_t slot_ = 0;                         // number of the period in which the next turn is due
    std::int64_t turns_ = 0, late_ = 0, missed_ = 0;
    int misses_ = 0;  // in a row
    bool overrun_ = false;
    double gap_ = 0;
    std::vector<double> trips_;
};

}  // namespace detail

// ================================================================ the session

/// What a program sees of the connection.
enum class ServiceState { open, lost, closed };

/// Options of `connect`.
struct ConnectOptions {
    std::string profile = {};          // name of this program at the service
    std::string token = {};            // bearer token of a service on another machine; "": HAPTICD_TOKEN
    std::string expect_instance = {};  // the only running service that will do, as `instance` showed it; "": any
    bool strict = true;                // raise what frames refuse as FrameErrors, else keep it in `faults`
    double timeout = 5.0;              // s for connecting, the handshake and each answer
    std::string http = {};             // HTTP address beside a local one; "": HAPTICD_HTTP, else this machine's
};

namespace detail {

inline constexpr std::size_t faults_kept = 100;
inline constexpr std::size_t most_bytes = 1024 * 1024;  // of a frame, or of an answer over HTTP

/// What a client knows of its session; a link fills it, the program reads it.
class Session {
public:
    int session_id = 0;
    std::string instance;  // of the running service
    ServiceState status = ServiceState::lost;
    bool strict = true;
    std::string profile;
    double command_timeout = 0.05;     // s, `sessions/command_timeout` as shipped
    std::optional<double> most_force;  // N, of the loop that runs
    std::deque<Fault> faults;
    std::vector<std::unique_ptr<Device>> devices;  // ever seen, in the order of the frames

    Device* find(const std::string& id) const {
        for (const auto& device : devices)
            if (device->id() == id) return device.get();
        return nullptr;
    }

    /// Return the device of this id, new or known.
    Device& device(const std::string& kind, const std::string& id) {
        if (Device* known = find(id)) {
            known->kind_ = kind;
            return *known;
        }
        devices.push_back(std::unique_ptr<Device>(new Device(kind, id)));
        return *devices.back();
    }

    void refuse(Fault fault) { new_faults_.push_back(std::move(fault)); }

    /// Raise FrameErrors for what the newest frames refused, if `strict`; else keep it in `faults`.
    void check() {
        auto found = std::exchange(new_faults_, {});
        // Sent while a device was being unplugged: the program is told by DeviceGone as soon as it reads or commands it.
        if (std::any_of(devices.begin(), devices.end(), [](const auto& device) { return !device->present(); }))
            found.erase(std::remove_if(found.begin(), found.end(), names_a_device), found.end());
        if (found.empty()) return;
        if (strict) {
            drop();
            throw FrameErrors(std::move(found));
        }
        faults.insert(faults.end(), found.begin(), found.end());
        while (faults.size() > faults_kept) faults.pop_front();
    }

    /// Forget every set-point of this turn: the next message releases.
    void drop() {
        for (const auto& device : devices) device->drop();
    }

    /// Raise WrongInstance unless this is the running service that was expected.
    void check_instance(const std::string& expected, const std::string& found) {
        if (!expected.empty() && expected != found)
            throw WrongInstance("the running service is " + (found.empty() ? "one without an id" : found) + ", and " + expected +
                                " was expected: it was restarted, or it is somebody else's; connect without expect_instance if it may be "
                                "another one");
        instance = found;
    }

    /// One line with the devices that are there: `arm 049D, grip 1605`.
    std::string here() const {
        std::string text;
        for (const auto& device : devices)
            if (device->present()) text += (text.empty() ? "" : ", ") + device->kind() + " " + device->id();
        return text.empty() ? "nothing" : text;
    }

private:
    static bool names_a_device(const Fault& fault) {
        constexpr std::string_view end = "].device_id";
        return fault.path.size() >= end.size() && fault.path.compare(fault.path.size() - end.size(), end.size(), end) == 0;
    }

    std::vector<Fault> new_faults_;
};

/// What a transport does for a service object. Every call but `close` and `drop` may raise ServiceLost and its kinds.
class Link {
public:
    virtual ~Link() = default;
    /// Take the newest states.
    virtual void turn() = 0;
    /// Put what was assigned in force, and release what was not assigned again. DeviceGone, InvalidCommand.
    virtual void act() = 0;
    /// Release everything.
    virtual void release() = 0;
    /// Release everything and close the connection.
    virtual void close() noexcept = 0;
    /// Close the connection without a word.
    virtual void drop() noexcept = 0;
};

// ================================================================ the socket

using ErrorCode = boost::system::error_code;

/// Where a service is: `ws://HOST:PORT/PATH`, or a state directory for shared memory.
struct Address {
    std::string host, port, path;
    std::string state_directory;  // "": over a socket

    std::string place() const { return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port; }
    std::string shown() const { return "ws://" + place() + path; }
};

inline std::string environment(const char* name, const std::string& otherwise) {
    const char* found = std::getenv(name);
    return found && *found ? found : otherwise;
}

inline const char* const default_url = "ws://localhost:10001";

/// Read ws://, http://HOST:PORT or HOST:PORT. InvalidAddress, NotSupported.
inline Address socket_address(const std::string& text) {
    const auto wanted = "\"" + text.substr(0, 80) + "\" is no address of a service: write ws://HOST:PORT, such as " + default_url + ", or local:STATE_DIR";
    const auto scheme_end = text.find("://");
    const auto scheme = scheme_end == std::string::npos ? "ws" : text.substr(0, scheme_end);
    if (scheme == "wss" || scheme == "https")
        throw NotSupported("this client speaks no TLS: connect to a tunnel on this machine (docs/operations.md), or from Python");
    auto rest = scheme_end == std::string::npos ? text : text.substr(scheme_end + 3);
    const bool printable = std::all_of(rest.begin(), rest.end(), [](unsigned char c) { return c > ' ' && c < 127; });
    if ((scheme != "ws" && scheme != "http") || !printable || rest.find_first_of("@?#") != std::string::npos) throw InvalidAddress(wanted);
    Address made;
    if (const auto slash = rest.find('/'); slash != std::string::npos) {
        made.path = rest.substr(slash);
        rest.resize(slash);
        while (!made.path.empty() && made.path.back() == '/') made.path.pop_back();
    }
    const auto bracket = rest.find(']');
    const auto colon = rest.find(':', rest.front() == '[' && bracket != std::string::npos ? bracket : 0);
    made.host = rest.substr(0, colon);
    if (!made.host.empty() && made.host.front() == '[') made.host = made.host.substr(1, made.host.size() - 2);
    made.port = colon == std::string::npos ? "80" : rest.substr(colon + 1);
    const bool digits = !made.port.empty() && made.port.size() < 6 && made.port.find_first_not_of("0123456789") == std::string::npos;
    if (made.host.empty() || !digits || std::stoi(made.port) < 1 || std::stoi(made.port) > 65535) throw InvalidAddress(wanted);
    return made;
}

/// Read an address of `connect`; "": HAPTICD_URL, else this machine's service.
inline Address parse_address(const std::string& url, const std::string& http) {
    const std::string given = url.empty() ? environment("HAPTICD_URL", default_url) : url;
    if (given.rfind("local:", 0) != 0) return socket_address(given);
    auto made = socket_address(http.empty() ? environment("HAPTICD_HTTP", default_url) : http);
    made.state_directory = given.substr(6);
    if (made.state_directory.empty()) made.state_directory = environment("XDG_STATE_HOME", environment("HOME", "") + "/.local/state") + "/hapticd";
    return made;
}

/// A TCP socket whose every call ends at a deadline: a Beast SyncStream. No thread, no signal of a broken pipe.
class BoundedSocket {
public:
    using executor_type = boost::asio::io_context::executor_type;

    explicit BoundedSocket(boost::asio::io_context& context) : context_(context) {}
    BoundedSocket(const BoundedSocket&) = delete;
    BoundedSocket& operator=(const BoundedSocket&) = delete;
    ~BoundedSocket() { close(); }

    executor_type get_executor() { return context_.get_executor(); }

    /// Copy what is read from now on; nullptr: no more.
    void copy_to(std::string* copy) { copy_ = copy; }

    /// Let the calls from now on end within so many seconds together.
    void bound(double seconds) { deadline_ = now() + seconds; }

    /// Connect to the first address that answers. NoService.
    void connect(const Address& address) {
        addrinfo hints{}, *found = nullptr;
        hints.ai_socktype = SOCK_STREAM;
        const int unknown = getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found);
        std::string why = unknown ? gai_strerror(unknown) : "no address";
        for (const addrinfo* each = found; each && descriptor_ < 0; each = each->ai_next)
            if (const int error = connect_to(*each)) why = std::strerror(error);
        if (found) freeaddrinfo(found);
        if (descriptor_ < 0)
            throw NoService("No service answers at " + address.shown() + " (" + why +
                            "): start one with hapticd run, or give its address with connect(url) or HAPTICD_URL.");
    }

    template <class Buffers>
    std::size_t read_some(const Buffers& buffers, ErrorCode& error) {
        boost::asio::mutable_buffer buffer;  // the first that has a place: a read may take less than there is
        for (auto each = boost::asio::buffer_sequence_begin(buffers); each != boost::asio::buffer_sequence_end(buffers) && buffer.size() == 0; ++each)
            buffer = *each;
        if (buffer.size() == 0) return error = {}, 0;
        const auto got = transfer(POLLIN, error, [&] { return ::recv(descriptor_, buffer.data(), buffer.size(), MSG_DONTWAIT); });
        if (got == 0 && !error) error = boost::asio::error::eof;
        if (copy_) copy_->append(static_cast<const char*>(buffer.data()), got);
        return got;
    }

    template <class Buffers>
    std::size_t write_some(const Buffers& buffers, ErrorCode& error) {
        std::array<iovec, 16> parts;
        msghdr message{};
        message.msg_iov = parts.data();
        for (auto each = boost::asio::buffer_sequence_begin(buffers); each != boost::asio::buffer_sequence_end(buffers); ++each)
            if (const boost::asio::const_buffer buffer(*each); buffer.size() > 0 && message.msg_iovlen < parts.size())
                parts[message.msg_iovlen++] = {const_cast<void*>(buffer.data()), buffer.size()};
        if (message.msg_iovlen == 0) return error = {}, 0;
        return transfer(POLLOUT, error, [&] { return ::sendmsg(descriptor_, &message, MSG_DONTWAIT | MSG_NOSIGNAL); });
    }

    template <class Buffers>
    std::size_t read_some(const Buffers& buffers) {
        return raising([&](ErrorCode& error) { return read_some(buffers, error); });
    }

    template <class Buffers>
    std::size_t write_some(const Buffers& buffers) {
        return raising([&](ErrorCode& error) { return write_some(buffers, error); });
    }

    void close() noexcept {
        if (descriptor_ >= 0) ::close(descriptor_);
        descriptor_ = -1;
    }

private:
    int milliseconds_left() const { return static_cast<int>(std::ceil(std::clamp(deadline_ - now(), 0.0, 3600.0) * 1e3)); }

    /// Connect; return 0 or an error number.
    int connect_to(const addrinfo& to) {
        descriptor_ = ::socket(to.ai_family, to.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to.ai_protocol);
        if (descriptor_ < 0) return errno;
        int error = ::connect(descriptor_, to.ai_addr, to.ai_addrlen) == 0 ? 0 : errno;
        if (error == EINPROGRESS) {
            ErrorCode late;
            wait(POLLOUT, late);
            socklen_t size = sizeof error;
            if (late) error = ETIMEDOUT;
            else if (getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
        }
        const int on = 1;
        if (error) close();
        else setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        return error;
    }

    /// Wait until the socket is ready, at most until the deadline.
    void wait(short events, ErrorCode& error) {
        pollfd one{descriptor_, events, 0};
        int ready;
        while ((ready = ::poll(&one, 1, milliseconds_left())) < 0 && errno == EINTR) {
        }
        error = ready > 0 ? ErrorCode{} : ready == 0 ? ErrorCode{boost::asio::error::timed_out} : ErrorCode{errno, boost::system::system_category()};
    }

    template <class Call>
    std::size_t transfer(short events, ErrorCode& error, Call call) {
        for (;;) {
            if (descriptor_ < 0) return error = boost::asio::error::bad_descriptor, 0;
            if (now() > deadline_) return error = boost::asio::error::timed_out, 0;  // also of a peer that trickles
            const auto done = call();
            if (done >= 0) return error = {}, static_cast<std::size_t>(done);
            if (errno == EINTR) continue;
            if (errno != EAGAIN && errno != EWOULDBLOCK) return error.assign(errno, boost::system::system_category()), 0;
            wait(events, error);
            if (error) return 0;
        }
    }

    template <class Call>
    static std::size_t raising(Call call) {
        ErrorCode error;
        const auto done = call(error);
        if (error) throw boost::system::system_error(error);
        return done;
    }

    boost::asio::io_context& context_;
    int descriptor_ = -1;
    double deadline_ = 0;  // of `now`
    std::string* copy_ = nullptr;
};

/// End a WebSocket's stream: Beast calls it by argument-dependent lookup, after both close frames or a broken one.
inline void teardown(boost::beast::role_type, BoundedSocket& socket, ErrorCode& error) {
    socket.close();
    error = {};
}

/// Return the error of an answer that is none of hapticd.
inline NoService stranger(const Address& address) {
    return NoService("What answers at " + address.shown() + " is not hapticd: give the service's address.");
}

/// Return the error of a refusal's body. Refused, NoService.
template <class Response>
[[noreturn]] void raise_refusal(const Response& response, const Address& address) {
    const auto body = Json::parse(response.body(), nullptr, false);
    if (!body.is_object() || !body.contains("error") || !body["error"].is_string()) throw stranger(address);
    auto sentence = body["error"].template get<std::string>();
    if (response.result_int() == 401) sentence += " Give the service's token with ConnectOptions::token or HAPTICD_TOKEN.";
    throw Refused(sentence, static_cast<int>(response.result_int()));
}

/// What goes with every request: name and version of this client, and the token.
template <class Fields>
void describe_client(Fields& fields, const std::string& token) {
    namespace http = boost::beast::http;
    fields.set(http::field::user_agent, std::string("hapticd-client/") + version + " C++");
    if (!token.empty()) fields.set(http::field::authorization, "Bearer " + token);
}

/// HTTP of one service, one connection for each exchange.
class Http {
public:
    Http(Address address, std::string token, double timeout) : address_(std::move(address)), token_(std::move(token)), timeout_(timeout) {}

    /// Return the data of one answer. NoService, Refused.
    Json exchange(boost::beast::http::verb method, const std::string& path, const std::string& query = "", const Json* body = nullptr) const {
        namespace http = boost::beast::http;
        boost::asio::io_context context;
        BoundedSocket socket(context);
        socket.bound(timeout_);
        socket.connect(address_);
        http::request<http::string_body> request{method, address_.path + path + "?" + query + "format=json", 11};
        request.set(http::field::host, address_.place());
        request.set(http::field::connection, "close");
        describe_client(request, token_);
        if (body) {
            request.set(http::field::content_type, "application/json");
            request.body() = body->dump();
        }
        request.prepare_payload();
        http::response_parser<http::string_body> parser;
        parser.body_limit(most_bytes);
        boost::beast::flat_buffer buffer;
        ErrorCode error;
        http::write(socket, request, error);
        if (!error) http::read(socket, buffer, parser, error);
        if (error == boost::asio::error::timed_out)
            throw NoService("The service at " + address_.place() + " did not answer " + path + " within " + shown(timeout_) + " s: see its log.");
        if (error == http::error::partial_message || (error && error.category() == boost::system::system_category()))
            throw NoService("The connection to " + address_.place() + " ended within an answer (" + error.message() + "): try again.");
        if (error) throw stranger(address_);
        const auto answer = Json::parse(parser.get().body(), nullptr, false);
        if (!answer.is_object() || !answer.contains("data") || answer.value("ok", Json()) != true) raise_refusal(parser.get(), address_);
        return answer["data"];
    }

    /// Check the service's version and return its time-out of commands, s. WrongVersion, NoService, Refused.
    double check_service() const {
        const auto get = boost::beast::http::verb::get;
        const auto told = exchange(get, "/version");
        const auto interface = told.is_object() && told.contains("interface") && told["interface"].is_string() ? told["interface"].get<std::string>() : "";
        int major = 0, minor = 0;
        if (std::sscanf(interface.c_str(), "%d.%d", &major, &minor) != 2 || major != interface_version[0] || minor < interface_version[1])
            throw WrongVersion("The service at " + address_.shown() + " speaks interface " + (interface.empty() ? "of an unknown version" : interface) +
                               ", and this client " + version + " speaks 3.5 and newer ones of 3.x: take the header of the service's version");
        const auto setting = exchange(get, "/settings/sessions/command_timeout");
        if (!setting.is_object() || !setting.contains("effective") || !setting["effective"].is_number()) throw stranger(address_);
        return setting["effective"].get<double>();
    }

private:
    Address address_;
    std::string token_;
    double timeout_;
};

// ================================================================ the WebSocket

/// One WebSocket connection: messages out, frames in, errors as sentences.
class Channel {
public:
    /// Connect and shake hands within `timeout` s. NoService, Refused.
    Channel(const Address& address, const std::string& token, double timeout) : shown_(address.shown()), timeout_(timeout), stream_(context_) {
        namespace websocket = boost::beast::websocket;
        stream_.next_layer().bound(timeout);
        stream_.next_layer().connect(address);
        stream_.set_option(websocket::stream_base::decorator([&token](websocket::request_type& request) { describe_client(request, token); }));
        stream_.read_message_max(most_bytes);
        stream_.auto_fragment(false);
        stream_.text(true);
        websocket::response_type response;
        std::string raw;
        ErrorCode error;
        stream_.next_layer().copy_to(&raw);
        stream_.handshake(response, address.place(), address.path + "/?version=3.1&vocabulary=neutral", error);
        stream_.next_layer().copy_to(nullptr);
        if (error == websocket::error::upgrade_declined) raise_declined(raw, address);
        if (error == boost::asio::error::timed_out)
            throw NoService("What listens at " + shown_ + " did not answer within " + hapticd::detail::shown(timeout) + " s: is this hapticd?");
        if (error) throw stranger(address);
        instance_ = std::string(response["X-Hapticd-Instance"]);
    }

    /// Id of the running service, as its handshake says; "" of one without an id.
    const std::string& instance() const { return instance_; }

    /// Send one message. ServiceLost.
    void send(const std::string& message) {
        stream_.next_layer().bound(timeout_);
        ErrorCode error;
        stream_.write(boost::asio::buffer(message), error);
        if (error) fail(error);
    }

    /// Return the next frame, valid until the next call; it must come within the time-out. ServiceLost, ServiceSilent, ProtocolBroken.
    std::string_view receive() {
        buffer_.clear();
        stream_.next_layer().bound(timeout_);
        ErrorCode error;
        stream_.read(buffer_, error);
        if (error) fail(error);
        return {static_cast<const char*>(buffer_.data().data()), buffer_.size()};
    }

    /// Say goodbye, wait at most half a second for the service to do the same, and close the socket.
    void close() noexcept {
        try {
            stream_.next_layer().bound(goodbye);
            ErrorCode ignored;
            if (stream_.is_open()) stream_.close(boost::beast::websocket::close_code::normal, ignored);
        } catch (...) {
            // Out of memory: the socket is closed all the same.
        }
        drop();
    }

    /// Close the socket without a word.
    void drop() noexcept { stream_.next_layer().close(); }

private:
    static constexpr double goodbye = 0.5;  // s

    /// Raise what a declined handshake says: Beast keeps its answer to itself. Refused, NoService.
    [[noreturn]] static void raise_declined(const std::string& raw, const Address& address) {
        namespace http = boost::beast::http;
        http::response_parser<http::string_body> parser;
        parser.eager(true);
        ErrorCode error;
        parser.put(boost::asio::buffer(raw), error);
        raise_refusal(parser.get(), address);
    }

    [[noreturn]] void fail(const ErrorCode& error) {
        namespace websocket = boost::beast::websocket;
        const auto reason = stream_.reason();
        drop();
        if (error == boost::asio::error::timed_out)
            throw ServiceSilent("The service at " + shown_ + " has not answered within " + hapticd::detail::shown(timeout_) +
                                " s; the connection is closed, forces are zero: see its log");
        if (error == websocket::error::closed) {
            const std::string said(reason.reason.data(), reason.reason.size());
            throw ServiceLost("The service at " + shown_ + " has closed the session (" + why_closed(reason.code) + (said.empty() ? "" : ": " + said) +
                                  "); forces are zero, connect again",
                              reason.code);
        }
        if (error == websocket::condition::protocol_violation || error == websocket::error::message_too_big || error == websocket::error::buffer_overflow)
            throw ProtocolBroken("What answers at " + shown_ + " breaks the WebSocket protocol (" + error.message() + "): is this hapticd?");
        throw ServiceLost("The connection to " + shown_ + " has ended (" + error.message() + "); forces are zero, connect again");
    }

    static std::string why_closed(int code) {
        switch (code) {
            case 1000: return "an operator has disconnected this session";
            case 1001: return "the service is stopping";
            case 1008: return "the service has given up on this connection";
            case 1009: return "a message was longer than 64 KiB";
            case 1011: return "the session failed inside the service";
            default: return "close code " + std::to_string(code);
        }
    }

    std::string shown_, instance_;
    double timeout_;
    boost::asio::io_context context_;
    boost::beast::websocket::stream<BoundedSocket> stream_;
    boost::beast::flat_buffer buffer_;
};

/// A session over a WebSocket: the rule *one message, one frame*.
class WireLink : public Link {
public:
    /// Connect and take the first frame. NoService, Refused, WrongInstance, WrongVersion, ServiceLost.
    WireLink(Session& session, const Address& address, const ConnectOptions& options, const Http& http)
        : session_(session), channel_(address, options.token, options.timeout) {
        session.check_instance(options.expect_instance, channel_.instance());
        session.command_timeout = http.check_service();
        take(channel_.receive());
    }

    void turn() override {
        send(std::exchange(wants_full_, false) ? R"({"session":{"force_render_full_state":{}}})" : "{}");
        while (awaited_ > 0) take(channel_.receive());
    }

    void act() override {
        Json message = Json::object();
        bool commanded = false, mapped = false, configured = false;
        for (const auto& device : session_.devices) {
            const bool pushes = device->commanded(session_.most_force);
            if (!pushes && (device->configuration_.empty() || !device->present())) continue;
            Json entry = {{"device_id", device->id()}};
            if (pushes) entry["commands"] = commands_of(*device);
            for (auto& [key, body] : std::exchange(device->configuration_, {})) {
                configured = true;
                if (key == "workspace") entry["commands"]["set_transform"] = transform_of(std::move(body));
                else entry["configure"][key] = std::move(body);
            }
            device->drop();
            commanded |= pushes;
            mapped |= entry.contains("commands");
            message[device->kind()].push_back(std::move(entry));
        }
        if (in_force_ && !mapped) add_release(message);
        if (!session_.profile.empty() && !profile_sent_) {
            configured = profile_sent_ = true;
            message["session"]["configure"]["profile"]["name"] = session_.profile;
        }
        in_force_ = commanded;
        wants_full_ |= configured;
        if (!message.empty()) send(message.dump());
    }

    void release() override {
        session_.drop();
        if (!std::exchange(in_force_, false)) return;
        Json message = Json::object();
        add_release(message);
        send(message.dump());
    }

    void close() noexcept override {
        try {
            release();
        } catch (...) {
            // The connection has ended, which releases everything.
        }
        channel_.close();
    }

    void drop() noexcept override { channel_.drop(); }

private:
    static Json commands_of(const Device& device) {
        Json made = Json::object();
        for (const auto& [name, body] : device.others_) made[name] = body;
        for (std::size_t point = 0; point < points; point++) {
            const auto& row = point_rows[point];
            if (const auto& value = device.points_[point])
                for (std::size_t i = 0; i < 3; i++) made[row.command][row.field][row.labels[i]] = (*value)[i];
        }
        return made;
    }

    /// The pivot of a workspace transform stands beside it.
    static Json transform_of(Json transform) {
        Json made = Json::object();
        if (transform.is_object() && transform.contains("pivot")) {
            made["pivot"] = std::move(transform["pivot"]);
            transform.erase("pivot");
        }
        made["transform"] = std::move(transform);
        return made;
    }

    /// Have the message carry a `commands` map without a command, of any device.
    void add_release(Json& message) const {
        if (!message.empty()) {
            message.front().front()["commands"] = Json::object();
            return;
        }
        for (const auto& device : session_.devices)
            if (device->present()) {
                message[device->kind()].push_back({{"device_id", device->id()}, {"commands", Json::object()}});
                return;
            }
    }

    void send(const std::string& message) {
        channel_.send(message);
        awaited_++;
    }

    /// Take the next frame; only the newest one is read whole. ProtocolBroken.
    void take(std::string_view text) {
        const bool newest = --awaited_ <= 0;
        if (!newest && text.find("\"errors\"") == std::string_view::npos) return;
        auto frame = Json::parse(text.begin(), text.end(), nullptr, false);
        if (!frame.is_object()) broken("is no JSON object");
        try {
            if (const auto errors = frame.find("errors"); errors != frame.end())
                for (const auto& error : *errors) session_.refuse({error.value("path", ""), error.value("reason", "refused without a reason")});
            if (newest) show(frame);
        } catch (const Json::exception& error) {
            broken(std::string("has another shape than docs/wire.md says (") + error.what() + ")");
        }
    }

    void show(Json& frame) {
        if (session_.session_id == 0) {
            if (!frame.contains("arm")) broken("has no devices and no session_id");
            session_.session_id = frame.at("session_id").get<int>();
        }
        std::vector<const Device*> seen;
        for (const auto& [group, entries] : frame.items()) {
            if (!entries.is_array() || group == "errors") continue;
            for (auto& entry : entries) {
                Device& device = session_.device(group, entry.at("device_id").get<std::string>());
                if (const auto config = entry.find("config"); config != entry.end()) {
                    device.config_ = std::move(*config);
                    device.described_ = true;
                }
                wants_full_ |= !device.described_;
                device.show(state_of(entry));
                seen.push_back(&device);
            }
        }
        for (const auto& device : session_.devices)
            if (std::find(seen.begin(), seen.end(), device.get()) == seen.end()) device->leave();
    }

    [[noreturn]] void broken(const std::string& how) {
        drop();
        throw ProtocolBroken("a frame of the service " + how + ": is this hapticd?");
    }

    Session& session_;
    Channel channel_;
    int awaited_ = 1;  // frames that the service owes: the first comes unasked
    bool in_force_ = false, wants_full_ = false, profile_sent_ = false;
};

// ================================================================ shared memory

#if HAPTICD_HAS_LOCAL

/// A session over memory that the service shares with programs on its machine: no message, no system call in a turn.
class LocalLink : public Link {
public:
    /// Connect within `timeout` s. NoService, Refused, WrongInstance.
    LocalLink(Session& session, const Address& address, const ConnectOptions& options, const Http& http)
        : session_(session), http_(http), path_(address.state_directory + "/" + HAPTICD_LOCAL_SOCKET), timeout_(options.timeout) {
        const auto quoted = Json(options.profile.empty() ? "C++ " + std::to_string(getpid()) : options.profile).dump();
        const auto name = quoted.substr(1, quoted.size() - 2);
        const auto within = static_cast<std::int64_t>(options.timeout * 1e9);
        if (hapticd_local_open_within(&seat_.client, address.state_directory.c_str(), name.c_str(), nullptr, (1u << points) - 1, within) != 0) raise_refusal();
        session.check_instance(options.expect_instance, seat_.client.instance);
        session.session_id = static_cast<int>(seat_.client.session);
        ticked_ = now();
        settle();
        if (const auto timeout = load(seat_.client.states->timeout_ns); timeout > 0) session.command_timeout = 1e-9 * static_cast<double>(timeout);
    }

    void turn() override {
        check();
        for (int slot = 0; slot < HAPTICD_LOCAL_DEVICES; slot++) {
            hapticd_local_state shown;
            if (hapticd_local_read(&seat_.client, slot, &shown)) {
                if (shown.generation != slots_[slot].generation) name(slot, shown.generation);
                if (Device* device = slots_[slot].device) device->show(state_of(shown, *device));
            } else if (load(seat_.client.states->devices[slot].state.generation) == 0) {
                leave(slot);
            }
            collect_refusals(slot);
        }
    }

    void act() override {
        check();
        for (auto& slot : slots_)
            if (slot.device) {
                configure(*slot.device);
                write(slot);
            }
        for (const auto& device : session_.devices) (void)device->commanded(session_.most_force);  // of one that has gone: DeviceGone
    }

    void release() override {
        session_.drop();
        for (auto& slot : slots_)
            if (slot.device) write(slot);
    }

    void close() noexcept override {
        try {
            release();
        } catch (...) {
            // Closing the socket releases everything.
        }
        drop();
    }

    void drop() noexcept override { hapticd_local_close(&seat_.client); }

private:
    static constexpr double settle_seconds = 0.5;
    static constexpr double gone_seconds = 0.5;  // without a tick, after which the service is looked for

    struct Seat {
        hapticd_local client{};
        Seat() { client.socket = -1; }
        Seat(const Seat&) = delete;
        Seat& operator=(const Seat&) = delete;
        ~Seat() { hapticd_local_close(&client); }
    };

    struct Slot {
        Device* device = nullptr;      // none while the slot is empty or has no name yet
        std::uint32_t generation = 0;  // of the state that the program sees
        std::uint64_t refused = 0;     // records
        bool in_force = false;
    };

    template <class Word>
    static Word load(const Word& word) {
        return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
    }

    static State state_of(const hapticd_local_state& shown, const Device& device) {
        static constexpr std::array<const char*, 3> modes{"idle", "force", "position"};
        static constexpr std::array<const char*, 3> names{"a", "b", "c"};
        constexpr std::uint32_t calibrated = 1, ready = 4, attached = 64;
        State made;
        const auto copy = [](auto& to, const auto& from) { std::copy(std::begin(from), std::end(from), to.begin()); };
        copy(made.position, shown.position);
        copy(made.velocity, shown.velocity);
        copy(made.force, shown.force);
        copy(made.angles, shown.angles);
        copy(made.angular_velocity, shown.angular_velocities);
        copy(made.torques, shown.torques);
        copy(made.orientation, shown.orientation);
        made.mode = modes[shown.mode < modes.size() ? shown.mode : 0];
        made.hall = shown.hall;
        if (device.kind() != "arm" && device.kind() != "compact")
            for (std::size_t i = 0; i < names.size(); i++) made.buttons[names[i]] = shown.buttons >> i & 1u;
        made.ready = shown.flags & ready;
        made.calibrated = shown.flags & calibrated;
        made.attached = shown.flags & attached;
        return made;
    }

    [[noreturn]] void raise_refusal() const {
        const auto answer = Json::parse(seat_.client.error, nullptr, false);
        if (answer.is_object() && answer.contains("error") && answer["error"].is_string())
            throw Refused("The service refuses a local client: " + answer["error"].get<std::string>(), answer.value("status", 0));
        throw NoService("No service answers at " + path_ + " (" + seat_.client.error +
                        "): start one with hapticd run, or give its state directory with local:STATE_DIR.");
    }

    /// Wait for a tick, and until every device that is shown has its name.
    void settle() {
        const double until = now() + std::min(settle_seconds, timeout_);
        bool whole = false;
        while (!whole && now() < until) {
            const int waited = hapticd_local_wait(&seat_.client, static_cast<std::int64_t>(settle_seconds * 1e9));
            turn();
            whole = waited == 1;
            for (int slot = 0; slot < HAPTICD_LOCAL_DEVICES; slot++)
                whole &= slots_[slot].device || load(seat_.client.states->devices[slot].state.generation) == 0;
        }
    }

    /// Learn which device has a slot; it is named a moment after it is shown.
    void name(int slot, std::uint32_t generation) {
        const auto& place = seat_.client.states->names[slot];
        hapticd_local_name copy{};
        leave(slot);
        if (!hapticd_local_copy(&place.sequence, &place.generation, &copy.generation, sizeof copy - 8)) return;
        if (static_cast<std::uint32_t>(copy.generation) != generation) return;
        copy.device_id[sizeof copy.device_id - 1] = copy.kind[sizeof copy.kind - 1] = 0;
        slots_[slot].device = &session_.device(copy.kind, copy.device_id);
        slots_[slot].generation = generation;
    }

    void leave(int slot) {
        Device* device = std::exchange(slots_[slot].device, nullptr);
        slots_[slot].generation = 0;
        slots_[slot].in_force = false;
        const bool elsewhere = std::any_of(slots_.begin(), slots_.end(), [&](const Slot& other) { return other.device == device; });
        if (device && !elsewhere) device->leave();
    }

    /// Write a record with what was assigned, or one that releases what was in force.
    void write(Slot& slot) {
        Device& device = *slot.device;
        const bool commanded = device.commanded(session_.most_force);
        if (!device.others_.empty()) {
            const auto other = device.others_.begin()->first;
            device.drop();
            throw InvalidCommand(other + " cannot go through shared memory: connect over a socket for it");
        }
        if (!seat_.client.page || (!commanded && !slot.in_force)) return;
        unsigned bits = 0;
        double set_points[points][3] = {};
        for (std::size_t point = 0; point < points; point++)
            if (const auto& value = device.points_[point]) {
                bits |= 1u << point;
                std::copy(value->begin(), value->end(), set_points[point]);
            }
        hapticd_local_command(&seat_.client, static_cast<int>(&slot - slots_.data()), slot.generation, bits, set_points);
        slot.in_force = commanded;
        device.drop();
    }

    /// Send configuration over HTTP; only what acts on forces in the device frame can be had. InvalidCommand, NoService, Refused.
    void configure(Device& device) {
        for (const auto& [key, body] : std::exchange(device.configuration_, {})) {
            if (key != "damping" && key != "force_gate")
                throw InvalidCommand("shared memory is in the device frame, so " + key + " has no effect: connect over a socket for it");
            const auto path = "/" + device.kind() + "/" + device.id() + "/config/filters/" + key;
            http_.exchange(boost::beast::http::verb::post, path, "session=" + std::to_string(session_.session_id) + "&", &body);
        }
    }

    void collect_refusals(int slot) {
        static constexpr std::array<const char*, 5> reasons{"taken", "its sequence is not above the last one",
                                                            "it was made for another device, which had this slot before",
                                                            "it has a bit that is no command", "a number in it is not finite, or beyond 1e6"};
        const auto& answer = seat_.client.states->seats[seat_.client.seat].devices[slot];
        const auto refused = load(answer.refused);
        if (refused <= slots_[slot].refused) return;
        slots_[slot].refused = refused;
        const auto reason = load(answer.reason);
        const Device* device = slots_[slot].device;
        session_.refuse({device ? device->kind() + "." + device->id() : "slot " + std::to_string(slot),
                         std::string("A record was refused: ") + (reason < reasons.size() ? reasons[reason] : "for an unknown reason") + "."});
    }

    /// ServiceLost when the session has ended, or ticks no longer come.
    void check() {
        if (!seat_.client.states) throw ServiceLost("the connection is closed; forces are zero, connect again");
        if (!hapticd_local_is_open(&seat_.client)) raise_ended();
        const auto tick = load(seat_.client.states->tick);
        if (tick != tick_) {
            tick_ = tick;
            ticked_ = now();
        } else if (now() - ticked_ > gone_seconds) {
            look();
        }
    }

    /// Look whether the service is there although no tick came. ServiceLost, ServiceSilent.
    void look() {
        char byte;
        if (::recv(seat_.client.socket, &byte, 1, MSG_DONTWAIT | MSG_PEEK) >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) raise_ended();
        if (now() - ticked_ <= std::max(timeout_, gone_seconds)) return;
        drop();
        throw ServiceSilent("The loop of the service at " + path_ + " has stood still for " + shown(timeout_) + " s; forces are zero: see its log");
    }

    [[noreturn]] void raise_ended() {
        char line[512];
        const auto got = ::recv(seat_.client.socket, line, sizeof line, MSG_DONTWAIT);
        drop();
        const auto said = got > 0 ? Json::parse(line, line + got, nullptr, false) : Json();
        std::string why = "it has gone";
        if (said.is_object())
            for (const char* key : {"error", "closed"})
                if (said.contains(key) && said[key].is_string()) why = said[key].get<std::string>();
        throw ServiceLost("The service at " + path_ + " has ended the session (" + why + "); forces are zero, connect again",
                          said.is_object() && said.contains("code") && said["code"].is_number_integer() ? said["code"].get<int>() : 0);
    }

    Session& session_;
    const Http& http_;
    std::string path_;
    double timeout_;
    Seat seat_;
    std::array<Slot, HAPTICD_LOCAL_DEVICES> slots_{};
    std::uint64_t tick_ = 0;
    double ticked_ = 0;  // when the newest tick was seen
};

#endif

/// A connected session with its link, of one process.
class Connection {
public:
    Session session;

    /// NoService, Refused, WrongInstance, WrongVersion, NotSupported, InvalidCommand, ServiceLost.
    Connection(const Address& address, const ConnectOptions& options) : http_(address, options.token, options.timeout), process_(getpid()) {
        session.strict = options.strict;
        session.profile = options.profile;
        if (address.state_directory.empty()) {
            link_ = std::make_unique<WireLink>(session, address, options, http_);
        } else {
#if HAPTICD_HAS_LOCAL
            link_ = std::make_unique<LocalLink>(session, address, options, http_);
#else
            throw NotSupported("shared memory needs hapticd_local.h: put its folder on the include path (docs/local.md), or connect over a socket");
#endif
        }
        session.status = ServiceState::open;
    }

    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection() { close(); }

    /// Release everything and close; a second call does nothing. In a child process only its copy is closed.
    void close() noexcept {
        const auto link = std::move(link_);
        if (session.status == ServiceState::open) session.status = ServiceState::closed;
        session.drop();
        if (!link) return;
        if (getpid() == process_) link->close();
        else link->drop();
    }

    /// Take new states. FrameErrors, ServiceLost.
    void turn() {
        guarded([this](Link& link) { link.turn(); });
        session.check();
    }

    /// Put what was assigned in force. DeviceGone, InvalidCommand, ServiceLost.
    void act() {
        guarded([this](Link& link) { link.act(); });
    }

    /// Begin a loop, or go on with it after its body: those that began in its body have ended.
    void lead(const std::shared_ptr<Pacer>& loop) {
        loops_.erase(std::find(loops_.begin(), loops_.end(), loop), loops_.end());
        loops_.push_back(loop);
        session.most_force = loop->options().max_force;
    }

    /// End a loop and release everything, unless it has ended already or a newer one runs; the loop around it leads again.
    void end(const std::shared_ptr<Pacer>& loop) noexcept {
        const bool leads = !loops_.empty() && loops_.back() == loop;
        loops_.erase(std::remove(loops_.begin(), loops_.end(), loop), loops_.end());
        if (!leads) return;
        last_ = loop;
        session.most_force = loops_.empty() ? std::nullopt : loops_.back()->options().max_force;
        release();
    }

    /// Figures of the loop that runs, or ran last.
    LoopStatistics statistics() const {
        const auto& shown = loops_.empty() ? last_ : loops_.back();
        return shown ? shown->statistics() : LoopStatistics{};
    }

    /// Release everything; an error means that the connection has ended, which releases too.
    void release() noexcept {
        session.drop();
        if (!link_ || getpid() != process_) return;
        try {
            link_->release();
        } catch (...) {
            lose();
        }
    }

private:
    template <class Call>
    void guarded(Call call) {
        if (getpid() != process_) throw SessionClosed("this session belongs to the process that forked this one: connect here to get a session of your own");
        if (session.status == ServiceState::lost) throw ServiceLost("the connection has ended; forces are zero: connect again");
        if (!link_) throw SessionClosed("this service object is closed: connect again");
        try {
            call(*link_);
        } catch (const ServiceLost&) {
            lose();
            throw;
        }
    }

    void lose() noexcept {
        if (link_) link_->drop();
        link_.reset();
        session.status = ServiceState::lost;
        session.drop();
    }

    Http http_;
    pid_t process_;
    std::unique_ptr<Link> link_;
    std::vector<std::shared_ptr<Pacer>> loops_;  // that run, each in the body of the one before it
    std::shared_ptr<Pacer> last_;                // of the loop that ended last
};

}  // namespace detail

// ================================================================ the service

/// While it lives, SIGINT and SIGTERM end loops in order instead of the process; a second one of the same kind ends the process.
///
/// Without it the signals end the process as ever: the kernel closes its socket, and the service releases every force of the session.
class StopOnSignals {
public:
    StopOnSignals() {
        detail::stop_signal = 0;
        struct sigaction action {};
        action.sa_handler = [](int number) { detail::stop_signal = number; };
        action.sa_flags = SA_RESETHAND;
        for (std::size_t i = 0; i < signals.size(); i++) sigaction(signals[i], &action, &before_[i]);
    }
    StopOnSignals(const StopOnSignals&) = delete;
    StopOnSignals& operator=(const StopOnSignals&) = delete;
    ~StopOnSignals() {
        for (std::size_t i = 0; i < signals.size(); i++) sigaction(signals[i], &before_[i], nullptr);
        detail::stop_signal = 0;  // later loops are not ended by it
    }

    /// Number of the signal that came, 0 for none.
    int received() const { return detail::stop_signal; }

private:
    static constexpr std::array<int, 2> signals{SIGINT, SIGTERM};
    std::array<struct sigaction, 2> before_{};
};

/// Turns of a service at a fixed rate, for one range-based `for`. Its end, however it comes, releases every force.
class Loop {
public:
    struct End {};

    class Iterator {
    public:
        explicit Iterator(Loop& loop) : loop_(loop) {}
        const Turn& operator*() const { return loop_.turn_; }
        Iterator& operator++() {
            loop_.end_body();
            return *this;
        }
        bool operator!=(End) const {
            if (!loop_.runs_) loop_.connection_.end(loop_.pacer_);
            return loop_.runs_;
        }

    private:
        Loop& loop_;
    };

    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    ~Loop() { connection_.end(pacer_); }

    Iterator begin() {
        connection_.session.drop();  // what was assigned before is no answer to a turn
        connection_.lead(pacer_);
        next();
        return Iterator(*this);
    }
    End end() const { return {}; }

private:
    friend class Service;

    Loop(detail::Connection& connection, double rate, const LoopOptions& options) : connection_(connection) {
        const auto& session = connection.session;
        if (session.status == ServiceState::closed) throw SessionClosed("this service object is closed: connect again");
        pacer_ = std::make_shared<detail::Pacer>(rate, options, session.command_timeout);
        if (pacer_->is_too_slow())
            std::fprintf(stderr,
                         "hapticd: %g turns/s are under three per sessions/command_timeout (%g s): one late turn lets forces fade; loop faster, "
                         "or raise the setting\n",
                         rate, session.command_timeout);
    }

    /// Wait for the next turn and take its states.
    void next() {
        auto& pacer = *pacer_;
        const double due = pacer.due(detail::now());
        if (due > detail::now()) detail::sleep_until(due);
        runs_ = !detail::stop_signal && connection_.session.status != ServiceState::closed;
        if (!runs_) return;
        const double began = detail::now();
        turn_ = pacer.begin(began);
        const auto& seconds = pacer.options().seconds;
        runs_ = !seconds || turn_.time < *seconds;
        if (!runs_) return;
        connection_.turn();
        pacer.answered(began, detail::now());
    }

    /// Send what the body of a turn assigned, unless it is stale, and begin the next turn.
    void end_body() {
        if (!pacer_->end(detail::now())) connection_.session.drop();
        runs_ = connection_.session.status != ServiceState::closed;
        if (!runs_) return;
        connection_.lead(pacer_);
        connection_.act();
        next();
    }

    detail::Connection& connection_;
    std::shared_ptr<detail::Pacer> pacer_;
    Turn turn_{};
    bool runs_ = true;
};

/// A connected service, for one thread. The end of its scope, however it comes, means zero force. It outlives its loops; its devices
/// live as long as it does.
class Service {
public:
    // ------------------------------------------------ devices

    /// The only arm. NoSuchDevice when there is none, or more than one.
    Device& arm() { return only("arm"); }
    /// The only compact device. NoSuchDevice.
    Device& compact() { return only("compact"); }
    /// The only grip. NoSuchDevice.
    Device& grip() { return only("grip"); }
    /// The only pen. NoSuchDevice.
    Device& pen() { return only("pen"); }

    /// The device of this id; one that was unplugged has `present` false. NoSuchDevice for an unknown id.
    Device& device(const std::string& id) {
        if (Device* found = session().find(id)) return *found;
        throw NoSuchDevice("no device " + id + " is here (here: " + session().here() + ")");
    }

    /// Devices that are there, of one kind or ("") of all, in the order of the frames.
    std::vector<Device*> devices(const std::string& kind = "") {
        std::vector<Device*> found;
        for (const auto& device : session().devices)
            if (device->present() && (kind.empty() || device->kind() == kind)) found.push_back(device.get());
        return found;
    }

    // ------------------------------------------------ turns

    /// Return turns at `rate` per second, each with new states; what its body assigns is sent as soon as the body has ended.
    ///
    /// It ends after `options.seconds`, when the service object is closed, or when StopOnSignals has received one. A body that takes longer
    /// than `sessions/command_timeout` gets its set-points dropped: they answer to a state that is old. What was assigned before the loop is
    /// dropped too. A loop in the body of another one has its own options and turns; the outer one's hold again after it. Turns raise
    /// FrameErrors (`strict`), DeviceGone, LoopTooSlow, LateTurn, ServiceLost and its kinds; forces are zero then. InvalidCommand for an
    /// option, SessionClosed.
    [[nodiscard]] Loop loop(double rate = 1000, const LoopOptions& options = {}) { return Loop(*connection_, rate, options); }

    /// Figures of the loop that runs, or ran last.
    LoopStatistics loop_statistics() const { return connection_->statistics(); }

    /// Send what was assigned now, and take new states: one turn without pacing. FrameErrors, DeviceGone, ServiceLost.
    void update() {
        try {
            connection_->act();
            connection_->turn();
        } catch (...) {
            connection_->release();
            throw;
        }
    }

    // ------------------------------------------------ the session

    /// Id of the session at the service.
    int session_id() const { return session().session_id; }
    /// Random id of the running service, another one after each of its starts; "" of a service without one.
    const std::string& instance() const { return session().instance; }
    ServiceState status() const { return session().status; }
    /// What frames refused, newest last, at most 100; kept only without `strict`, and then never raised.
    const std::deque<Fault>& faults() const { return session().faults; }
    /// Release every force, say goodbye to the service and close the connection; a second call does nothing.
    void close() noexcept { connection_->close(); }

private:
    friend Service connect(const std::string& url, ConnectOptions options);

    explicit Service(std::unique_ptr<detail::Connection> connection) : connection_(std::move(connection)) {}

    detail::Session& session() const { return connection_->session; }

    Device& only(const std::string& kind) {
        const auto found = devices(kind);
        if (found.size() == 1) return *found.front();
        if (found.empty())
            throw NoSuchDevice("no " + kind + " is here (here: " + session().here() + "): plug one in, or start the service with --simulate " + kind);
        throw NoSuchDevice("there are " + std::to_string(found.size()) + " of kind " + kind + " (" + session().here() +
                           "): choose one, such as device(\"" + found.front()->id() + "\")");
    }

    std::unique_ptr<detail::Connection> connection_;
};

/// Connect to a service and return it.
///
/// `url`: `ws://HOST:PORT`, or `local:STATE_DIR` for shared memory (`local:` alone: the usual state directory); "": HAPTICD_URL, else this
/// machine's service. Raises NoService, Refused, WrongInstance, WrongVersion, NotSupported, ServiceLost and its kinds; InvalidAddress for what
/// is no address, InvalidCommand for an option.
[[nodiscard]] inline Service connect(const std::string& url = "", ConnectOptions options = {}) {
    if (options.token.empty()) options.token = detail::environment("HAPTICD_TOKEN", "");
    if (!std::all_of(options.token.begin(), options.token.end(), [](unsigned char c) { return c > ' ' && c < 127; }))
        throw InvalidCommand("a token has no spaces and no line ends: give the line that hapticd token prints");
    if (!(options.timeout > 0)) throw InvalidCommand("a timeout is above 0 s, and this is " + detail::shown(options.timeout));
    detail::check_json("a profile", options.profile);
    return Service(std::make_unique<detail::Connection>(detail::parse_address(url, options.http), options));
}

}  // namespace hapticd

#endif
