// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's sound interface (i_sound.h): effects by effects.c, music by the engine's own OPL player.
#include <stddef.h>

#include "i_sound.h"
#include "m_argv.h"
#include "m_config.h"

#include "effects.h"
#include "platform.h"

int snd_sfxdevice = SNDDEVICE_SB;
int snd_musicdevice = SNDDEVICE_SB;
int snd_samplerate = 44100; // for the OPL player, which asks
int snd_pitchshift = -1; // the engine chooses

static boolean has_effects, has_music;

void I_InitSound(boolean use_sfx_prefix)
{
    boolean silent = !audio_is_heard() || M_ParmExists("-nosound");
    has_effects = !silent && !M_ParmExists("-nosfx") && snd_sfxdevice != SNDDEVICE_NONE;
    if (has_effects) {
        effects_open(use_sfx_prefix);
    }
    has_music =
        !silent && !M_ParmExists("-nomusic") && snd_musicdevice != SNDDEVICE_NONE && music_opl_module.Init();
}

void I_ShutdownSound(void)
{
    if (has_music) {
        music_opl_module.Shutdown();
        has_music = false;
    }
}

int I_GetSfxLumpNum(sfxinfo_t *sound)
{
    return has_effects ? effects_lump(sound) : 0;
}

void I_PrecacheSounds(sfxinfo_t *sounds, int count)
{
    if (has_effects) {
        effects_load(sounds, count);
    }
}

// Sound is made when a frame is presented: audio.c.
void I_UpdateSound(void)
{
}

void I_UpdateSoundParams(int channel, int volume, int separation)
{
    effects_place(channel, volume, separation);
}

int I_StartSound(sfxinfo_t *sound, int channel, int volume, int separation, int pitch)
{
    if (!has_effects || !audio_is_heard()) {
        return 0;
    }
    return effects_start(sound, channel, volume, separation, pitch);
}

void I_StopSound(int channel)
{
    effects_stop(channel);
}

boolean I_SoundIsPlaying(int channel)
{
    return effects_play(channel);
}

void I_InitMusic(void)
{
}

void I_ShutdownMusic(void)
{
}

void I_SetMusicVolume(int volume)
{
    if (has_music) {
        music_opl_module.SetMusicVolume(volume);
    }
}

void I_PauseSong(void)
{
    if (has_music) {
        music_opl_module.PauseMusic();
    }
}

void I_ResumeSong(void)
{
    if (has_music) {
        music_opl_module.ResumeMusic();
    }
}

void *I_RegisterSong(void *data, int length)
{
    return has_music ? music_opl_module.RegisterSong(data, length) : NULL;
}

void I_UnRegisterSong(void *song)
{
    if (has_music) {
        music_opl_module.UnRegisterSong(song);
    }
}

void I_PlaySong(void *song, boolean looping)
{
    if (has_music) {
        music_opl_module.PlaySong(song, looping);
    }
}

void I_StopSong(void)
{
    if (has_music) {
        music_opl_module.StopSong();
    }
}

boolean I_MusicIsPlaying(void)
{
    return has_music && music_opl_module.MusicIsPlaying();
}

void I_BindSoundVariables(void)
{
    M_BindIntVariable("snd_musicdevice", &snd_musicdevice);
    M_BindIntVariable("snd_sfxdevice", &snd_sfxdevice);
    M_BindIntVariable("snd_pitchshift", &snd_pitchshift);
    M_BindStringVariable("snd_dmxoption", &snd_dmxoption);
}
