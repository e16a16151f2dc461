// Test program of hapticd.hpp: `program URL WAY [VALUE]`. Most ways push 1 N along z, say "pushing in session N" once the force is felt, and
// leave in their way when standard input has a line; they say "left", and live on until standard input ends.
//
// scope, break, throw, close   the end of the service's scope; break out of the loop; an exception; close() in a turn
// exit, uncaught               std::exit(3) and an exception that nobody catches, in a turn
// end, stop                    the end of the program, without and with StopOnSignals; both print the figures of the loop
// omit                         turns that assign nothing, while the loop goes on
// nan, fault, misses, gone     NaN; a configuration that is refused; a budget that no body keeps; a device that is unplugged
// back                         DeviceGone, then wait until the device is there again, push without and with resume(): "back", "resumed"
// max                          1000 N with a max_force of VALUE
// nested                       a loop with a max_force of VALUE, whose first body has a loop with a lower one; "restarted" if its turns are
//                              not its own afterwards
// abandoned                    a loop with a max_force of VALUE, during which one ends that was abandoned before it: "ended"
// old                          a force that was assigned before a loop without any: "second turn"
// options                      what loops say to options that they do not take, and to a service that is closed
// fork                         a child that uses the session of its parent says what it was told
// configure                    damping, force gate, mount and workspace, then `config` and `state` as JSON
// states                       `state` of each device as JSON
// update                       ten updates within VALUE s each, without pushing
// expect                       connect to the running service VALUE only
// pacer RATE BUDGET MISSES TIMEOUT   loops of the pacer in the time that standard input tells
#include <cxxabi.h>
#include <poll.h>
#include <sys/wait.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <typeinfo>

#include "hapticd.hpp"

namespace {

using hapticd::HapticsError;
using hapticd::Json;

struct Thrown {};

void say(const std::string& line) { std::cout << line << std::endl; }

std::string name_of(const HapticsError& error) {
    char* name = abi::__cxa_demangle(typeid(error).name(), nullptr, nullptr, nullptr);
    const std::string made = name;
    std::free(name);
    return made + ": " + error.what();
}

/// Whether standard input has a line, or has ended.
bool asked() {
    pollfd input{0, POLLIN, 0};
    char byte;
    return poll(&input, 1, 0) > 0 && read(0, &byte, 1) <= 1;
}

/// Wait for a line on standard input.
void wait_for_line() {
    char byte = 0;
    while (byte != '\n' && read(0, &byte, 1) > 0) {
    }
}

/// Live on until standard input ends.
void rest() {
    char byte;
    while (read(0, &byte, 1) > 0) {
    }
}

/// Say once that the force is felt.
void tell(hapticd::Service& service, const hapticd::Device& arm) {
    static bool told = false;
    if (told || !(arm.force()[2] > 0)) return;
    told = true;
    say("pushing in session " + std::to_string(service.session_id()));
}

/// Push until it is asked to leave, then leave in the way of its name.
void push(hapticd::Service& service, const std::string& way, const hapticd::LoopOptions& options, double newton) {
    auto& arm = service.arm();
    bool leaving = false;
    for (auto turn : service.loop(500, options)) {
        if (!leaving || way != "omit") arm.set_force({0, 0, newton});
        tell(service, arm);
        if (leaving && way == "omit" && asked()) break;
        if (leaving || !asked()) continue;
        if (way == "throw" || way == "uncaught") throw Thrown();
        if (way == "exit") std::exit(3);
        if (way == "close") service.close();
        if (way == "nan") arm.set_force({0, std::nan(""), 1});
        if (way == "fault") arm.configure("damping", 1000);
        if (way == "scope" || way == "break" || way == "end" || way == "stop" || way == "max" || way == "fork") break;
        if (way == "omit") say("left");
        leaving = true;
    }
}

void come_back(hapticd::Service& service, const std::string& id) {
    auto& arm = service.device(id);
    while (!arm.ready()) service.update();
    arm.set_force({0, 0, 1});
    service.update();
    say(arm.withheld() ? "back" : "not withheld");
    arm.resume();
    while (!asked()) {
        arm.set_force({0, 0, 1});
        service.update();
        tell(service, arm);
    }
}

void fork_child(hapticd::Service& service) {
    const pid_t child = fork();
    if (child == 0) {
        try {
            service.arm().set_force({0, 0, 3});
            service.update();
            say("it went");
        } catch (const HapticsError& error) {
            say(name_of(error));
        }
        service.close();
        std::_Exit(0);
    }
    waitpid(child, nullptr, 0);
}

void nest(hapticd::Service& service, const hapticd::LoopOptions& options) {
    auto& arm = service.arm();
    hapticd::LoopOptions within;
    within.max_force = *options.max_force / 2;
    within.seconds = 0.02;
    std::int64_t turns = 0;
    double time = -1;
    bool own = true;
    for (auto turn : service.loop(500, options)) {
        own = own && turn.number == turns++ && turn.time > time && service.loop_statistics().turns == turns;
        time = turn.time;
        if (turn.number == 0)
            for (auto inner : service.loop(500, within)) arm.set_force({0, 0, 1000});
        arm.set_force({0, 0, 1000});
        tell(service, arm);
        if (asked()) break;
    }
    say(own ? "left" : "restarted");
}

void abandon(hapticd::Service& service, const hapticd::LoopOptions& options) {
    auto& arm = service.arm();
    auto abandoned = std::unique_ptr<hapticd::Loop>(new auto(service.loop(500)));
    for (auto turn : *abandoned) break;
    bool waits = false;
    for (auto turn : service.loop(500, options)) {
        if (waits) {
            say("ended");
            wait_for_line();
        }
        waits = false;
        arm.set_force({0, 0, 1000});
        tell(service, arm);
        if (!asked()) continue;
        wait_for_line();
        if (!abandoned) break;
        abandoned.reset();
        waits = true;
    }
    say("left");
}

void forget(hapticd::Service& service) {
    service.arm().set_force({0, 0, 1});
    for (auto turn : service.loop(500)) {
        if (turn.number == 0) continue;
        say("second turn");
        wait_for_line();
        break;
    }
    say("left");
}

void refuse(hapticd::Service& service) {
    const auto begin = [&service](double rate, const hapticd::LoopOptions& options) {
        try {
            for (auto turn : service.loop(rate, options)) break;
            say("no error");
        } catch (const HapticsError& error) {
            say(name_of(error));
        }
    };
    const double nan = std::nan(""), infinite = HUGE_VAL;
    for (const double rate : {nan, infinite, 0.0, -1.0}) begin(rate, {});
    for (const double seconds : {nan, -1.0}) begin(1000, {{}, {}, {}, {}, seconds});
    for (const double force : {nan, infinite, -1.0}) begin(1000, {{}, {}, force, {}, {}});
    begin(1000, {nan, {}, {}, {}, {}});
    begin(1000, {{}, {}, {}, 0, {}});
    service.close();
    begin(1000, {});
}

void configure(hapticd::Service& service) {
    auto& arm = service.arm();
    arm.configure("damping", 2);
    arm.configure("force_gate", 0.5);
    arm.configure("mount", {{"position", {{"x", 0.01}, {"y", 0}, {"z", 0}}}});
    arm.configure("workspace", {{"scale", {{"x", 2}, {"y", 2}, {"z", 2}}}});
    service.update();
    service.update();
    say(Json({{"config", arm.config()}, {"transform", arm.state().raw.at("transform")}}).dump());
}

void show_states(hapticd::Service& service) {
    Json shown = Json::object();
    for (const hapticd::Device* device : service.devices()) {
        const auto& state = device->state();
        shown[device->id()] = {{"kind", device->kind()},         {"position", state.position},       {"velocity", state.velocity},
                               {"force", state.force},           {"angles", state.angles},           {"torques", state.torques},
                               {"orientation", state.orientation}, {"mode", state.mode},             {"hall", state.hall},
                               {"buttons", state.buttons},       {"ready", state.ready},             {"attached", state.attached},
                               {"calibrated", state.calibrated}, {"angular_velocity", state.angular_velocity}};
    }
    say(shown.dump());
}

/// Print what each turn of a pacer is, in full digits; each line of standard input has the times of its begin, answer and end.
void pace(double rate, double budget, int misses, double timeout) {
    hapticd::LoopOptions options;
    if (budget > 0) options.budget = budget;
    if (misses > 0) options.stop_after_misses = misses;
    hapticd::detail::Pacer pacer(rate, options, timeout);
    double began, answered, ended;
    std::cout.precision(17);
    try {
        while (std::cin >> began >> answered >> ended) {
            const double due = pacer.due(began);
            const auto turn = pacer.begin(began);
            pacer.answered(began, answered);
            const bool fresh = pacer.end(ended);
            std::cout << due << ' ' << turn.number << ' ' << turn.time << ' ' << turn.dt << ' ' << turn.late << ' ' << turn.skipped << ' ' << fresh << '\n';
        }
    } catch (const hapticd::LoopTooSlow& error) {
        std::cout << error.what() << '\n';
    }
    const auto figures = pacer.statistics();
    std::cout << figures.rate << ' ' << figures.turns << ' ' << figures.late << ' ' << figures.missed << ' ' << figures.round_trip_p50 << ' '
              << figures.round_trip_p99 << ' ' << figures.longest_gap << '\n'
              << figures << '\n';
}

int run(const std::string& url, const std::string& way, const std::string& value) {
    hapticd::ConnectOptions connecting;
    connecting.profile = "test \"program\"";
    if (way == "update") connecting.timeout = std::stod(value), connecting.profile.clear();
    if (way == "expect") connecting.expect_instance = value;
    std::optional<hapticd::StopOnSignals> signals;
    if (way == "stop") signals.emplace();
    hapticd::LoopStatistics figures;
    {
        auto service = hapticd::connect(url, connecting);
        hapticd::LoopOptions options;
        if (way == "misses") options.budget = 1e-9, options.stop_after_misses = 3;
        if (way == "max" || way == "nested" || way == "abandoned") options.max_force = std::stod(value);
        if (way == "configure") configure(service);
        else if (way == "states") show_states(service);
        else if (way == "nested") nest(service, options);
        else if (way == "abandoned") abandon(service, options);
        else if (way == "old") forget(service);
        else if (way == "options") refuse(service);
        else if (way == "expect") say(service.instance());
        else if (way == "update") {
            for (int i = 0; i < 10; i++) service.update();
        } else {
            const auto id = service.arm().id();
            try {
                push(service, way, options, way == "max" ? 1000 : 1);
            } catch (const Thrown&) {
                if (way == "uncaught") throw;
            } catch (const HapticsError& error) {
                if (way == "end" || way == "stop") throw;
                say(name_of(error));
            }
            if (way == "back") come_back(service, id);
            if (way == "fork") fork_child(service);
            figures = service.loop_statistics();
            if (way == "break") {
                service.update();  // its frame is an answer to a message behind the release
                say("left");
                rest();
            }
        }
    }
    if (way == "scope" || way == "throw" || way == "close" || way == "nan" || way == "fault" || way == "misses" || way == "gone" || way == "nested" ||
        way == "abandoned" || way == "old") {
        say("left");
        rest();
    }
    if (way == "end" || way == "stop") std::cout << figures << std::endl;
    return signals && signals->received() ? 128 + signals->received() : 0;
}

}  // namespace

int main(int count, char** words) {
    const std::string way = count > 2 ? words[2] : "end", value = count > 3 ? words[3] : "";
    if (way == "pacer") {
        pace(std::stod(words[3]), std::stod(words[4]), std::stoi(words[5]), std::stod(words[6]));
        return 0;
    }
    if (way == "uncaught") return run(words[1], way, value);
    try {
        return run(words[1], way, value);
    } catch (const HapticsError& error) {
        std::cerr << name_of(error) << std::endl;
        return 1;
    }
}
